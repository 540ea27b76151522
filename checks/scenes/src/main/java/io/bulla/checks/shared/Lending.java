// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.shared;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.PosixException;
import io.bulla.posix.lending.SharedSlabSource;
import io.bulla.posix.lending.SlabLender;
import io.bulla.posix.lending.SlabLenderFigures;
import io.bulla.posix.lending.SlabPeer;
import io.bulla.posix.lending.SlabQuota;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/// The program of a lender: it lends to all that come, until its input ends; then it waits until
/// nothing is lent. A line of its input is answered with figures. Of each borrower that has ended it says when
/// its last lease was closed: `ended PID NANOS`.
///
/// Arguments: the folder for its socket, `--leases N` and `--bytes N` of each borrower, `--words N` of a message at
/// most, `--budget MIB`, `--burst N` messages between two looks for borrowers.
public final class Lending {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long PAUSE_NANOS = 2_000_000;

    private final List<SlabPeer> peers = new ArrayList<>();
    private final List<SlabPeer> gone = new ArrayList<>();
    private final Random random = new Random();
    private final LastClose closes = new LastClose();
    private final SlabQuota quota;
    private final int mostWords;
    private final int burst;
    private final MemoryBudget budget;
    private final SharedSlabSource memory;
    // this thread's, and seen by the one that answers
    private volatile long lent;
    private volatile long full;
    private volatile int lastPid;

    private Lending(List<String> options) {
        quota = new SlabQuota((int) number(options, "--leases", 64), number(options, "--bytes", 8 << 20));
        mostWords = (int) number(options, "--words", 100_000);
        burst = (int) number(options, "--burst", 1);
        budget = new MemoryBudget(number(options, "--budget", 96) << 20);
        memory = SharedSlabSource.create(SlabSource.builder().budget(budget).trace(closes));
    }

    /// Runs it.
    ///
    /// @param args see above
    /// @throws Exception if the system refuses
    public static void main(String... args) throws Exception {
        new Lending(List.of(args)).run(Path.of(args[0]));
    }

    private void run(Path folder) throws IOException, InterruptedException {
        long before = Left.now();
        SlabLender lender = SlabLender.open(folder, memory, quota);
        System.out.println(lender.path());
        Thread answers = Thread.ofPlatform().daemon().start(() -> answer(lender));
        while (answers.isAlive()) {
            SlabPeer fresh = lender.accept(Duration.ofNanos(PAUSE_NANOS));
            if (fresh != null) {
                lastPid = fresh.pid();
                peers.add(fresh);
                lend(fresh);
            }
            sayEnded();
            for (int i = 0; i < burst && !peers.isEmpty(); i++) {
                lend(peers.get(random.nextInt(peers.size())));
            }
        }
        lender.close(PATIENCE);
        memory.close(PATIENCE);
        System.out.println(figures(lender) + " left=" + Left.since(before));
    }

    private void sayEnded() {
        for (SlabPeer each : peers) {
            if (each.gone() != null) {
                gone.add(each);
            }
        }
        peers.removeAll(gone);
        gone.removeIf(each -> each.leases() == 0 && say(each));
    }

    private boolean say(SlabPeer ended) {
        System.out.println("ended " + ended.pid() + " " + closes.of(ended));
        return true;
    }

    private void lend(SlabPeer peer) {
        try (SealedBuffer message = Content.of(memory, random.nextLong(), random.nextInt(mostWords))) {
            for (SlabPeer each : random.nextInt(4) == 0 ? peers : List.of(peer)) {
                lend(each, message);
            }
        } catch (MemoryLimitException none) {
            full++;
            // those who have it give it back
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private void lend(SlabPeer peer, SealedBuffer message) {
        try {
            if (peer.lend(message)) {
                lent++;
            }
        } catch (PosixException killed) {
            // seen soon
        }
    }

    private void answer(SlabLender lender) {
        try {
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
            while (input.readLine() != null) {
                System.out.println(figures(lender));
            }
        } catch (IOException ended) {
            // as it should
        }
    }

    private String figures(SlabLender lender) {
        SlabLenderFigures now = lender.figures();
        return "peers=" + now.peers() + " leases=" + now.leases() + " bytes=" + now.bytes() + " quarantined="
                + now.quarantined() + " cut-off=" + now.cutOff() + " refused=" + now.refused() + " hung-up="
                + now.hungUp() + " reclaimed=" + now.reclaimed() + " failures=" + now.failures() + " booked="
                + budget.used() + " lent=" + lent + " full=" + full + " last-pid=" + lastPid;
    }

    static void awaitEnd() {
        try {
            while (System.in.read() >= 0) {}
        } catch (IOException ended) {
            // as it should
        }
    }

    static long number(List<String> words, String name, long usual) {
        int at = words.indexOf(name);
        return at < 0 ? usual : Long.parseLong(words.get(at + 1));
    }
}
