// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.shared;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// What the processes of the check have said at their ends.
final class Found {

    private final Map<Long, Long> killedAt = new HashMap<>();
    private final List<Double> millis = new ArrayList<>();
    private int kills;
    private long wrong;
    private long leasesLeft;
    private long descriptorsLeft;
    private long messages;
    private long bytes;
    private long cutOff;
    private long reclaimed;
    private long full;

    /// Something that must not be.
    void wrong(String what) {
        System.out.println("wrong: " + what);
        wrong++;
    }

    void countKill() {
        kills++;
    }

    /// A borrower was killed.
    ///
    /// @param when `System.nanoTime()` just before
    void killed(long pid, long when) {
        kills++;
        killedAt.put(pid, when);
    }

    /// When a lender has closed the last leases of borrowers.
    void closed(Map<Long, Long> ended) {
        ended.forEach((pid, when) -> {
            Long from = killedAt.remove(pid);
            // it had none, or had given all back
            if (from != null && when - from > 0 && when != 0) {
                millis.add((when - from) / 1e6);
            }
        });
    }

    void borrowed(SharedProcess borrower) {
        if (borrower.figure("wrong") != 0 || borrower.figure("left") != 0) {
            System.out.println("a borrower: pid=" + borrower.pid() + " " + borrower.said());
        }
        wrong += borrower.figure("wrong");
        descriptorsLeft += borrower.figure("left");
        messages += borrower.figure("messages");
        bytes += borrower.figure("bytes");
    }

    void lent(SharedProcess lender) {
        lent(lender, 0);
    }

    /// @param liars whom it had to cut off
    void lent(SharedProcess lender, int liars) {
        long wronglyCutOff = lender.figure("cut-off") - liars;
        if (lender.figure("leases") + lender.figure("booked") + lender.figure("left") != 0 || wronglyCutOff != 0) {
            System.out.println("a lender: pid=" + lender.pid() + " " + lender.said());
        }
        leasesLeft += lender.figure("leases") + (lender.figure("booked") == 0 ? 0 : 1);
        descriptorsLeft += lender.figure("left");
        cutOff += Math.abs(wronglyCutOff);
        reclaimed += lender.figure("reclaimed");
        full += lender.figure("full");
    }

    int kills() {
        return kills;
    }

    /// From the kill until the last lease is closed: the death of the process, and the wake-up of the lender's
    /// thread, are in it.
    String closes() {
        double[] sorted =
                millis.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return sorted.length == 0
                ? "none"
                : String.format(
                        Locale.ROOT,
                        "%d median=%.2fms p90=%.2fms most=%.2fms over-10ms=%d",
                        sorted.length,
                        sorted[sorted.length / 2],
                        sorted[sorted.length * 9 / 10],
                        sorted[sorted.length - 1],
                        Arrays.stream(sorted).filter(each -> each > 10).count());
    }

    String load() {
        return "messages=" + messages + " bytes=" + bytes + " reclaimed=" + reclaimed + " full=" + full + " cut-off="
                + cutOff + " descriptors-left=" + descriptorsLeft;
    }

    String line(long files) {
        return "shared: kills=" + kills + " wrong=" + wrong + " leases-left=" + leasesLeft + " files-left=" + files;
    }

    boolean isGood() {
        return wrong + leasesLeft + descriptorsLeft + cutOff == 0 && messages > 0;
    }
}
