// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.iovec.Generation.End;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class GenerationTest {

    private int rests;
    private final Generation stamp = new Generation() {
        @Override
        protected void rested() {
            rests++;
        }
    };
    private final IoVec vec = IoVec.of(MemorySegment.ofArray(new byte[64])).stamped(stamp);

    @Test
    void endIsFinalAndIsToldOnce() {
        stamp.check();
        assertEquals(End.FREE, stamp.end());
        assertEquals(End.AGAIN, stamp.end());
        assertThrows(IllegalStateException.class, stamp::check);
        assertThrows(IllegalStateException.class, vec::verify);
        assertThrows(IllegalStateException.class, () -> vec.getInt(0));
        assertThrows(IllegalStateException.class, () -> vec.region(0));
        assertThrows(IllegalStateException.class, vec::lent);
        assertThrows(IllegalStateException.class, () -> vec.slice(0, 1));
        assertThrows(IllegalStateException.class, () -> IoVec.concat(vec, vec));
        assertThrows(IllegalStateException.class, vec::hashCode);
        assertEquals(0, rests);
    }

    /// A stamp of memory that is written to before a view of it is given out.
    @Test
    void writtenUntilItIsShownOrDropped() {
        Generation sealed = new Generation(true) {};
        assertTrue(sealed.isWritten());
        assertFalse(sealed.isEnded());
        sealed.shown();
        assertFalse(sealed.isWritten());
        assertFalse(sealed.isEnded());
        assertTrue(sealed.hold());
        assertTrue(sealed.escape());
        assertEquals(End.ESCAPED, sealed.end());
        assertFalse(sealed.isWritten());
        Generation abandoned = new Generation(true) {};
        abandoned.dropped();
        assertTrue(abandoned.isEnded());
        assertTrue(abandoned.isWritten());
        assertEquals(End.AGAIN, abandoned.end());
        assertFalse(stamp.isWritten());
    }

    @Test
    void viewThatWasGivenOutIsTold() {
        IoVec.concat(vec.slice(1, 5), vec).asByteBuffers();
        assertEquals(End.ESCAPED, stamp.end());
        assertEquals(End.AGAIN, stamp.end());
    }

    @Test
    void cursorsViewIsGivenOutAndItsStepsAreNot() {
        IoVecCursor cursor = IoVecCursor.of(vec);
        cursor.advance(10);
        assertEquals(End.FREE, copyOfStamp(IoVecCursor::rewind).end());
        cursor.window(1, 10);
        assertEquals(End.ESCAPED, stamp.end());
    }

    @Test
    void readsGiveNothingOut() {
        vec.getLong(0);
        vec.copyTo(0, MemorySegment.ofArray(new byte[8]), 8);
        vec.hexDump();
        vec.hashCode();
        vec.mismatch(vec);
        vec.indexOf(0, (byte) 1);
        vec.lent().region(0);
        vec.asInputStream();
        assertEquals(End.FREE, stamp.end());
    }

    @Test
    void lentIsTheSameBytesWithoutAGuard() {
        assertTrue(vec.isStamped());
        assertFalse(vec.lent().isStamped());
        IoVec plain = vec.lent();
        assertSame(plain, plain.lent());
        plain.verify();
        assertFalse(plain.keeping(this).isStamped());
    }

    @Test
    void everyStampOfSeveralRegionsCounts() {
        for (int ended = 0; ended < 3; ended++) {
            Generation[] stamps = {new Generation(), new Generation(), new Generation()};
            IoVec many = IoVec.of(
                    MemorySegment.ofArray(new byte[8]),
                    MemorySegment.ofArray(new byte[8]),
                    MemorySegment.ofArray(new byte[8]));
            for (Generation each : stamps) {
                many = many.stamped(each);
            }
            assertFalse(many.lent().isStamped());
            IoVec whole = IoVec.concat(many, vec);
            stamps[ended].end();
            IoVec stale = many;
            assertThrows(IllegalStateException.class, stale::lent);
            assertThrows(IllegalStateException.class, () -> whole.getLong(20));
            assertThrows(IllegalStateException.class, () -> whole.region(3));
        }
    }

    @Test
    void stampsOfAVectorAreFound() {
        Generation other = new Generation();
        IoVec bare = IoVec.of(MemorySegment.ofArray(new byte[8]));
        IoVec both = IoVec.concat(vec, bare, bare.stamped(other));
        assertEquals(0, bare.stampCount());
        assertEquals(1, vec.stampCount());
        assertSame(stamp, vec.slice(1, 2).stamp(0));
        assertEquals(2, both.stampCount());
        assertSame(stamp, both.stamp(0));
        assertSame(other, both.keeping(this).stamp(1));
        assertThrows(IndexOutOfBoundsException.class, () -> bare.stamp(0));
        assertThrows(IndexOutOfBoundsException.class, () -> vec.stamp(1));
        assertThrows(IndexOutOfBoundsException.class, () -> both.stamp(2));
    }

    @Test
    void memoryRestsWhileItIsWritten() throws IOException {
        vec.writeTo(new During(() -> {
            assertEquals(End.RESTS, stamp.end());
            assertThrows(IllegalStateException.class, () -> vec.writeTo(new During(() -> {})));
            assertEquals(0, rests);
        }));
        assertEquals(1, rests);
    }

    @Test
    void memoryThatIsWrittenIsFreeAfterwards() throws IOException {
        vec.writeTo(new During(() -> {}));
        assertEquals(End.FREE, stamp.end());
        assertEquals(0, rests);
    }

    private static Generation copyOfStamp(Consumer<IoVecCursor> what) {
        Generation stamp = new Generation();
        IoVecCursor cursor =
                IoVecCursor.of(IoVec.of(MemorySegment.ofArray(new byte[64])).stamped(stamp));
        cursor.advance(20);
        what.accept(cursor);
        return stamp;
    }

    /// Runs something in the middle of a write.
    private record During(Runnable what) implements GatheringByteChannel {

        @Override
        public long write(ByteBuffer[] views, int offset, int length) {
            what.run();
            long written = 0;
            for (int i = offset; i < offset + length; i++) {
                written += views[i].remaining();
                views[i].position(views[i].limit());
            }
            return written;
        }

        @Override
        public long write(ByteBuffer[] views) {
            return write(views, 0, views.length);
        }

        @Override
        public int write(ByteBuffer view) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }
}
