// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.Safety;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.LeaseTally;
import io.bulla.refcount.LeaseTrace;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultySource;
import io.bulla.testkit.FaultyTrace;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/// What the users of a round share: two sources under one budget, all of whose calls may fail, and a board on which
/// they leave handles for each other. At the end every byte has to be back.
final class RandomWorld {

    /// A handle and what its bytes are.
    record Held(SealedBuffer handle, byte[] content) {}

    private static final long LIMIT = 64 << 20;
    private static final int ONE_IN = 40;
    private static final int BOARD = 16;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    final FaultPoints points;
    final MemoryBudget budget = new MemoryBudget(LIMIT);
    final AtomicReferenceArray<Held> board = new AtomicReferenceArray<>(BOARD);
    final AtomicLong adopted = new AtomicLong();
    final AtomicLong released = new AtomicLong();
    final Queue<String> violations = new ConcurrentLinkedQueue<>();
    private final LeaseTally tally = new LeaseTally();
    private final LeaseLedger ledger;
    private final List<ArenaSource> arenas;
    private final List<FaultySource> sources;
    private final long adoptedBefore = MemoryBudget.adopted();

    RandomWorld(long seed) {
        this.points = FaultPoints.random(seed, ONE_IN);
        this.ledger = LeaseLedger.full().onLeak(lost -> points.reach("onLeak"));
        LeaseTrace trace = LeaseTrace.both(ledger, new FaultyTrace(points, tally));
        this.arenas = List.of(arena(Safety.FAST, trace), arena(Safety.CHECKED, trace), arena(Safety.FAST, null));
        this.sources =
                arenas.stream().map(arena -> new FaultySource(points, arena)).toList();
    }

    private ArenaSource arena(Safety safety, LeaseTrace trace) {
        return ArenaSource.builder().budget(budget).safety(safety).trace(trace).build();
    }

    MemorySource source(int any) {
        return sources.get(any % sources.size());
    }

    ArenaSource arena(int any) {
        return arenas.get(any % arenas.size());
    }

    /// Only what a listener is told of is healed.
    MemorySource tracedSource(int any) {
        return sources.get(any % 2);
    }

    void violated(String what) {
        violations.add(what);
    }

    /// Ends the round: closes what lies on the board, has forgotten handles healed, and counts.
    void end() throws InterruptedException {
        points.paused(() -> {
            for (int i = 0; i < board.length(); i++) {
                Held last = board.getAndSet(i, null);
                if (last != null) {
                    last.handle().close();
                }
            }
        });
        awaitHealed();
        for (ArenaSource arena : arenas) {
            try {
                arena.close(PATIENCE);
            } catch (IllegalStateException open) {
                violated("source does not end: " + open.getMessage());
            }
            expect("late writes", 0, arena.lateWrites());
        }
        expect("bytes booked", 0, budget.used());
        expect("handles open", 0, tally.open());
        expect("handles listed", 0, ledger.open().size());
        expect("memory adopted and not released", adopted.get(), released.get());
        expect("bytes adopted", adoptedBefore, MemoryBudget.adopted());
        for (FaultySource source : sources) {
            expect("regions taken", 0, source.regionsTaken());
            expect("regions misused", 0, source.misused());
        }
        threadsWork();
    }

    private void awaitHealed() throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while ((tally.open() != 0 || !ledger.open().isEmpty()) && System.nanoTime() < deadline) {
            System.gc();
            Thread.sleep(10);
        }
    }

    /// Whatever was thrown at them: the healer heals, and a source's thread closes.
    private void threadsWork() throws InterruptedException {
        LeaseTally seen = new LeaseTally();
        LeaseLedger heals = LeaseLedger.full().onLeak(lost -> {});
        ArenaSource fresh = ArenaSource.create(new MemoryBudget(1 << 20), LeaseTrace.both(heals, seen));
        forget(fresh);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (seen.open() != 0 && System.nanoTime() < deadline) {
            System.gc();
            Thread.sleep(10);
        }
        expect("handles that were not healed", 0, seen.open());
        try {
            fresh.close(PATIENCE);
        } catch (IllegalStateException stuck) {
            violated("a fresh source does not end: " + stuck.getMessage());
        }
    }

    private static void forget(MemorySource source) {
        SealedBuffer forgotten = BufferBuilder.create(source).putInt(1).seal();
        if (!forgotten.isOpen()) {
            throw new IllegalStateException("closed already: " + forgotten);
        }
    }

    private void expect(String what, long wanted, long found) {
        if (wanted != found) {
            violated(what + ": wanted=" + wanted + " found=" + found);
        }
    }
}
