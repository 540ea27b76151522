// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/// What a claim costs, beside the locked operations that it cannot do without, and beside one contended word.
///
/// One should see: `shareThenClose` close to `baseline` on one thread, and the same on two; the naive `oneWord`
/// and Netty's `nettyRetainedDuplicate`, which has such a word, several times slower on two, for the word's
/// cache line goes to and fro; `fanOut` next to nothing per send.
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class CountBenchmark {

    private static final int SENDS = 64;
    private static final VarHandle WORD;
    private static final VarHandle FLAG;

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(CountBenchmark.class, "word", long.class);
            FLAG = MethodHandles.lookup().findVarHandle(Flag.class, "flag", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /// Each thread's own, as a claim's flag is.
    @State(Scope.Thread)
    public static class Flag {
        int flag;
    }

    private static final class Claim extends Lease {

        Claim(RefCount count) {
            super(count);
        }

        Claim share() {
            Claim other = new Claim(count());
            retain(null, other);
            return other;
        }

        Claim[] shares(int n) {
            Claim[] others = new Claim[n];
            for (int i = 0; i < n; i++) {
                others[i] = new Claim(count());
            }
            retain(null, others);
            return others;
        }
    }

    /// A claim as [Lease] has it, with every trace of the trace deleted.
    private static final class Untraced {

        private static final Object OPEN = new Object();
        private static final VarHandle SIDE;

        static {
            try {
                SIDE = MethodHandles.lookup().findVarHandle(Untraced.class, "side", Object.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private final RefCount count;
        private Object side = OPEN;

        Untraced(RefCount count) {
            this.count = count;
        }

        Untraced share() {
            Untraced other = new Untraced(count);
            if (side == null || !count.retain(1)) {
                throw new IllegalStateException();
            }
            return other;
        }

        void close() {
            if (SIDE.getAndSet(this, null) != null) {
                count.release();
            }
        }
    }

    private static final class Thing extends RefCount {

        Thing(LeaseTrace trace) {
            super(trace);
        }

        @Override
        protected void free() {}
    }

    long word;
    private Claim claim;
    private Untraced untraced;
    private Claim sampled;
    private ByteBuf netty;
    private Claim listed;

    @Setup
    public void open() {
        claim = new Claim(new Thing(null));
        untraced = new Untraced(new Thing(null));
        netty = PooledByteBufAllocator.DEFAULT.directBuffer(64);
        sampled = new Claim(new Thing(LeaseLedger.sampled(128)));
        listed = new Claim(new Thing(LeaseLedger.full()));
    }

    @Benchmark
    public boolean baseline(Flag mine) {
        WORD.getAndAdd(this, 2L);
        boolean won = FLAG.compareAndSet(mine, 0, 1);
        WORD.getAndAdd(this, -2L);
        mine.flag = 0;
        return won;
    }

    /// What a shared word costs each thread that updates it: the rival on two threads.
    @Benchmark
    public long oneWord() {
        long before = (long) WORD.getAndAdd(this, 2L);
        while (true) {
            long now = (long) WORD.getOpaque(this);
            if (WORD.weakCompareAndSetRelease(this, now, now - 2)) {
                return before;
            }
        }
    }

    @Benchmark
    public void shareThenClose() {
        claim.share().close();
    }

    /// The handle escapes, as one does that is handed to a send.
    @Benchmark
    public void shareThenCloseEscaping(Blackhole elsewhere) {
        Claim share = claim.share();
        elsewhere.consume(share);
        share.close();
    }

    @Benchmark
    @OperationsPerInvocation(SENDS)
    public void sharesThenCloses(Blackhole elsewhere) {
        Claim[] shares = claim.shares(SENDS);
        elsewhere.consume(shares);
        for (Claim share : shares) {
            share.close();
        }
    }

    @Benchmark
    public void shareThenCloseUntraced() {
        untraced.share().close();
    }

    /// Netty's own way to hand one buffer to one more send.
    @Benchmark
    public void nettyRetainedDuplicate() {
        netty.retainedDuplicate().release();
    }

    @Benchmark
    public void shareThenCloseSampled() {
        sampled.share().close();
    }

    @Benchmark
    public void shareThenCloseListed() {
        listed.share().close();
    }
}
