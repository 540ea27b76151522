// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// What arrives in one lane: in order, whole, and once.
class ReassemblerTest {

    private final Reassembler lane = new Reassembler();

    private static Frame fragment(long sequence, long offset, int length, long total) {
        return fragment(Frame.Kind.BROADCAST, sequence, offset, length, total, 5, 6);
    }

    private static Frame fragment(
            Frame.Kind kind, long sequence, long offset, int length, long total, long session, long number) {
        return new Frame(kind, 1, 2, Optional.empty(), false, sequence, offset, total, session, number, length, 1);
    }

    private static SealedBuffer bytes(int... values) {
        byte[] all = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            all[i] = (byte) values[i];
        }
        return SealedBuffer.adopt(MemorySegment.ofArray(all), () -> {});
    }

    private String refused(Frame frame) {
        return String.valueOf(
                assertThrows(IOException.class, () -> lane.advance(frame)).getMessage());
    }

    @Test
    void messagesOfOneFragmentFollowEachOther() throws IOException {
        for (int i = 0; i < 3; i++) {
            Frame frame = fragment(i, 0, 4, 4);
            assertTrue(lane.isFirst(frame));
            assertFalse(lane.isDuplicate(frame));
            assertTrue(lane.advance(frame));
            assertEquals(i + 1, lane.expected());
            assertEquals(0, lane.landed());
        }
        assertEquals(0, lane.duplicates());
    }

    @Test
    void anEmptyMessageIsWholeAtOnce() throws IOException {
        assertTrue(lane.advance(fragment(0, 0, 0, 0)));
        assertEquals(1, lane.expected());
    }

    @Test
    void fragmentsAreCountedUpToTheLast() throws IOException {
        assertFalse(lane.advance(fragment(0, 0, 4, 10)));
        assertEquals(4, lane.landed());
        assertEquals(0, lane.expected());
        assertFalse(lane.advance(fragment(0, 4, 4, 10)));
        assertEquals(8, lane.landed());
        assertTrue(lane.advance(fragment(0, 8, 2, 10)));
        assertEquals(0, lane.landed());
        assertEquals(1, lane.expected());
        assertTrue(lane.isFirst(fragment(1, 0, 1, 2)));
    }

    @Test
    void whatContinuesIsNoFirst() throws IOException {
        assertFalse(lane.isFirst(fragment(1, 0, 4, 4)), "of a later message");
        assertFalse(lane.isFirst(fragment(0, 2, 2, 4)), "not from its beginning");
        // one of no bytes has begun, too
        assertFalse(lane.advance(fragment(0, 0, 0, 4)));
        assertFalse(lane.isFirst(fragment(0, 0, 4, 4)), "again");
        assertFalse(lane.advance(fragment(0, 0, 2, 4)));
        assertFalse(lane.isFirst(fragment(0, 0, 4, 4)), "again, with bytes landed");
    }

    @Test
    void fragmentOutOfPlaceIsRefused() throws IOException {
        assertEquals("fragment out of place: offset=1 landed=0 total=4 before=0", refused(fragment(0, 1, 3, 4)));
        lane.advance(fragment(0, 0, 2, 4));
        assertEquals("fragment out of place: offset=3 landed=2 total=4 before=4", refused(fragment(0, 3, 1, 4)));
        assertEquals("fragment out of place: offset=2 landed=2 total=5 before=4", refused(fragment(0, 2, 1, 5)));
        refused(fragment(Frame.Kind.DIRECT, 0, 2, 2, 4, 5, 6));
        refused(fragment(Frame.Kind.BROADCAST, 0, 2, 2, 4, 6, 6));
        refused(fragment(Frame.Kind.BROADCAST, 0, 2, 2, 4, 5, 7));
        // what was refused has changed nothing
        assertTrue(lane.advance(fragment(0, 2, 2, 4)));
    }

    @Test
    void holeIsRefusedAndADuplicateIsCountedOnce() throws IOException {
        String hole = String.valueOf(assertThrows(IOException.class, () -> lane.isDuplicate(fragment(1, 0, 1, 1)))
                .getMessage());
        assertEquals("hole in the sequence: lane=1 sequence=1 expected=0", hole);
        lane.advance(fragment(0, 0, 4, 4));
        assertTrue(lane.isDuplicate(fragment(0, 0, 2, 4)));
        assertEquals(0, lane.duplicates(), "not its last fragment");
        assertTrue(lane.isDuplicate(fragment(0, 2, 2, 4)));
        assertEquals(1, lane.duplicates());
        assertFalse(lane.isDuplicate(fragment(1, 0, 2, 2)));
        assertEquals(1, lane.duplicates());
    }

    @Test
    void partsBecomeOneBufferAndTheirHandlesGo() throws IOException {
        SealedBuffer first = bytes(1, 2);
        SealedBuffer second = bytes(3);
        assertNull(lane.take(fragment(0, 0, 2, 3), first));
        SealedBuffer whole = lane.take(fragment(0, 2, 1, 3), second);
        assertFalse(first.isOpen());
        assertFalse(second.isOpen());
        assertArrayEquals(new byte[] {1, 2, 3}, whole.toByteArray());
        whole.close();
        // a message of one part is that part
        SealedBuffer alone = bytes(4);
        assertSame(alone, lane.take(fragment(1, 0, 1, 1), alone));
        assertArrayEquals(new byte[] {4}, alone.toByteArray());
        alone.close();
    }

    @Test
    void fragmentOutOfPlaceIsClosed() throws IOException {
        SealedBuffer wrong = bytes(1);
        assertThrows(IOException.class, () -> lane.take(fragment(0, 1, 1, 2), wrong));
        assertFalse(wrong.isOpen());
        assertEquals(0, lane.landed());
    }

    @Test
    void interruptedMessageBeginsAnew() throws IOException {
        SealedBuffer part = bytes(1, 2);
        lane.take(fragment(0, 0, 2, 4), part);
        lane.interrupt();
        assertFalse(part.isOpen());
        assertEquals(0, lane.landed());
        assertEquals(0, lane.expected());
        assertTrue(lane.isFirst(fragment(0, 0, 2, 5)));
        SealedBuffer alone = bytes(9);
        assertSame(alone, lane.take(fragment(0, 0, 1, 1), alone), "a part of the one before was kept");
        alone.close();
    }

    @Test
    void skippedMessageIsPassed() throws IOException {
        Frame skip = fragment(Frame.Kind.SKIP, 0, 0, 0, 4, 0, 0);
        assertNull(lane.skip(skip));
        assertEquals(1, lane.expected());
        Frame begun = fragment(1, 0, 2, 4);
        SealedBuffer part = bytes(1, 2);
        lane.take(begun, part);
        String another = String.valueOf(assertThrows(
                        IOException.class, () -> lane.skip(fragment(Frame.Kind.SKIP, 1, 0, 0, 5, 0, 0)))
                .getMessage());
        assertEquals("skips another message: total=5 before=4", another);
        assertTrue(part.isOpen(), "a refused skip has changed nothing");
        assertSame(begun, lane.skip(fragment(Frame.Kind.SKIP, 1, 0, 0, 4, 0, 0)));
        assertFalse(part.isOpen());
        assertEquals(2, lane.expected());
        assertEquals(0, lane.landed());
        lane.pass();
        assertEquals(3, lane.expected());
    }

    @Test
    void restoredLaneGoesOnAndAResetOneBeginsAtZero() throws IOException {
        lane.restore(5);
        assertEquals(RestoredNumbers.of(5), lane.expected());
        assertTrue(lane.expected() > NodeCut.UNNUMBERED);
        SealedBuffer part = bytes(1);
        lane.take(fragment(lane.expected(), 0, 1, 2), part);
        lane.reset();
        assertFalse(part.isOpen());
        assertEquals(0, lane.expected());
        assertEquals(0, lane.landed());
        assertTrue(lane.isFirst(fragment(0, 0, 1, 2)));
    }
}
