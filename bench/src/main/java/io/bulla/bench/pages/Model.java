// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.pages;

import io.bulla.bench.goals.Case;
import io.bulla.bench.goals.Results;
import io.bulla.bench.numbers.Units;
import io.bulla.posix.UnixFanOutBenchmark;
import io.bulla.refcount.CountBenchmark;
import java.util.Locale;

/// A short model of a broadcast, fitted to what was measured, for what the machine at hand cannot show.
///
/// ```
/// time to send `size` bytes to `peers`, one processor:    peers * (call + byte * size)   what the kernel does
///                                                       + peers * share                  what a share adds
///                                              or       + peers * copied * size          what a copy adds
/// ```
///
/// `call` and `byte` come from two sizes of the fan-out without any copy of ours, `share` from one thread's
/// share and close, `copied` from the larger size with pooled copies. A wire of so many bytes a second is busy
/// for `peers * size` of them, beside the processor.
final class Model {

    private static final double SMALL = 1 << 10;
    private static final double LARGE = 1 << 22;
    private static final double PEERS_MEASURED = 64;
    private static final double WIRE_BYTES_PER_NANO = 12.5;
    private static final double[] SIZES = {1 << 10, 1 << 16, 1 << 20};
    private static final double[] PEERS = {64, 1000, 10_000};
    private static final int THREADS = 64;

    private final Results measured;

    Model(Results measured) {
        this.measured = measured;
    }

    /// A section of the scoreboard.
    String page() {
        double small = fanOut("baseline", SMALL);
        double large = fanOut("baseline", LARGE);
        double perByte = (large - small) / (LARGE - SMALL);
        double perCall = Math.max(0, small - perByte * SMALL);
        double share = count("shareThenClose", 1);
        double copied = (fanOut("copiedPooled", LARGE) - large) / LARGE;
        if (Double.isNaN(perByte + share + copied)) {
            return "";
        }
        StringBuilder page =
                new StringBuilder("""
                ## A model, not a measurement

                Fitted to the numbers above: the kernel takes %s ns a send and %s ns a byte (in and out, unix sockets), a
                share adds %s ns a send, a pooled copy %s ns a byte. One processor sends; a wire of 100 Gbit/s carries
                12.5 bytes a nanosecond.

                | peers | bytes | wire alone, ms | processor with shares, ms | with copies, ms | copies against shares | memory for copies |
                |---|---|---|---|---|---|---|
                """.formatted(digits(perCall), digits(perByte), digits(share), digits(copied)));
        for (double peers : PEERS) {
            for (double size : SIZES) {
                double kernel = peers * (perCall + perByte * size);
                double shares = kernel + peers * share;
                double copies = kernel + peers * copied * size;
                page.append(String.format(
                        Locale.ROOT,
                        "| %.0f | %s | %s | %s | %s | %.2f | %s MiB |%n",
                        peers,
                        Units.place(size),
                        digits(peers * size / WIRE_BYTES_PER_NANO / 1e6),
                        digits(shares / 1e6),
                        digits(copies / 1e6),
                        copies / shares,
                        digits(peers * size / (1 << 20))));
            }
        }
        return page.append(threads(share)).toString();
    }

    /// A word that all threads update is handed from one to the next, so each waits for all others; cells of a
    /// processor's own are not.
    private String threads(double share) {
        double wordOnTwo = count("oneWord", 2);
        double ours = count("shareThenClose", 2);
        return """

                %d threads that share and close one buffer, each on a processor of its own: with one word each waits for all
                others, %s ns on two threads make %s ns; with cells of their own the %s ns on two threads stay (one thread
                alone: %s ns).
                """.formatted(THREADS, digits(wordOnTwo), digits(wordOnTwo / 2 * THREADS), digits(ours), digits(share));
    }

    private double fanOut(String method, double size) {
        return measured.median(Case.jmh(UnixFanOutBenchmark.class, method, 1, "size=" + (int) size)) / PEERS_MEASURED;
    }

    private double count(String method, int threads) {
        return measured.median(Case.jmh(CountBenchmark.class, method, threads));
    }

    private static String digits(double number) {
        return Units.rounded(number);
    }
}
