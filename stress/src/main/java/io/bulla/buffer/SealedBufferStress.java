package io.bulla.buffer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/// What holders of a [SealedBuffer] may rely on, each claim as a race.
public class SealedBufferStress {

    private static final int VALUE = 0x5ea1ed;
    private static final int POISON = 0xdeadbeef;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /// One region of heap memory that is poisoned when it is given back.
    private static final class Poisoned implements MemorySource, MemorySource.Region {

        private final MemorySegment memory = MemorySegment.ofArray(new byte[8]);
        private final AtomicInteger releases = new AtomicInteger();

        @Override
        public Region allocate(long byteSize) {
            return this;
        }

        @Override
        public MemorySegment segment() {
            return memory;
        }

        @Override
        public void release() {
            memory.set(INT, 0, POISON);
            memory.set(INT, 4, POISON);
            releases.incrementAndGet();
        }
    }

    private static SealedBuffer sealed(MemorySource source) {
        return BufferBuilder.create(source).putInt(VALUE).putInt(VALUE).seal();
    }

    private static int read(SealedBuffer buffer) {
        int low = buffer.iovec().get(INT, 0);
        int high = buffer.iovec().get(INT, 4);
        return low == VALUE && high == VALUE ? 1 : -1;
    }

    /// A buffer that is published through a plain field is seen whole or not at all.
    @JCStressTest
    @Outcome(id = "0", expect = ACCEPTABLE, desc = "not published yet")
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "published: every byte is there")
    @Outcome(expect = FORBIDDEN)
    @State
    public static class RacyPublication {

        private static final ArenaSource SOURCE = ArenaSource.create();

        private SealedBuffer published;

        @Actor
        public void packer() {
            published = sealed(SOURCE);
        }

        @Actor
        public void reader(I_Result result) {
            SealedBuffer seen = published;
            result.r1 = seen == null ? 0 : read(seen);
        }

        @Arbiter
        public void closer() {
            published.close();
        }
    }

    /// The memory goes back once, after every holder has read.
    @JCStressTest
    @Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "both read their bytes; given back once")
    @Outcome(expect = FORBIDDEN)
    @State
    public static class UseThenFree {

        private final Poisoned memory = new Poisoned();
        private final SealedBuffer first = sealed(memory);
        private final SealedBuffer second = first.share();

        @Actor
        public void one(III_Result result) {
            result.r1 = read(first);
            first.close();
        }

        @Actor
        public void two(III_Result result) {
            result.r2 = read(second);
            second.close();
        }

        @Arbiter
        public void judge(III_Result result) {
            result.r3 = memory.releases.get();
        }
    }

    /// A share that races with the close of its own handle is a whole share, or an exception and nothing.
    @JCStressTest
    @Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "the share came first, read its bytes, and freed them")
    @Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "the close came first: an exception, freed once")
    @Outcome(expect = FORBIDDEN)
    @State
    public static class ShareBesideClose {

        private final Poisoned memory = new Poisoned();
        private final SealedBuffer only = sealed(memory);

        @Actor
        public void sharer(III_Result result) {
            try (SealedBuffer mine = only.share()) {
                result.r1 = read(mine);
            } catch (ReleasedBufferException closedBefore) {
                result.r1 = 0;
            }
        }

        @Actor
        public void closer() {
            only.close();
        }

        @Arbiter
        public void judge(III_Result result) {
            result.r3 = memory.releases.get();
        }
    }
}
