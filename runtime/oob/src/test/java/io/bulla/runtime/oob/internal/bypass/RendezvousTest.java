// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.bypass;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.bulk.BulkTransport;
import io.bulla.runtime.oob.internal.core.BulkSettings;
import io.bulla.runtime.oob.internal.wire.BulkOffer;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/// One connection's long messages, each step as a frame or the line brings it.
class RendezvousTest {

    private static final long ABOVE = 8;
    private static final int BULK = 1;
    private static final int REFUSED = 0;
    private static final int GRANTED = 1;
    private static final int NO_LINE = 2;

    private final FakeLine line = new FakeLine();
    private final BulkBackoff backoff = Objects.requireNonNull(BulkBackoff.of(
            new BulkSettings(
                    new BulkTransport() {
                        @Override
                        public BulkLine open(String peer, Consumer<? super IOException> failed) {
                            return line;
                        }

                        @Override
                        public void close() {}
                    },
                    ABOVE),
            2,
            3));
    private final Deque<Runnable> loop = new ArrayDeque<>();
    private final List<Frame> said = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private int pumps;
    private final Rendezvous way = new Rendezvous(2, backoff, line, loop::add, new Rendezvous.Host() {
        @Override
        public void say(Frame frame) {
            said.add(frame);
        }

        @Override
        public void pump() {
            pumps++;
        }

        @Override
        public void failed(Throwable why) {
            failures.add(why);
        }
    });

    private static SealedBuffer bytes(int count) {
        return SealedBuffer.adopt(MemorySegment.ofArray(new byte[count]), () -> {});
    }

    private static Frame frame(Frame.Kind kind, int word, long sequence, long total, long key, long target, int lane) {
        return new Frame(kind, word, 3, Optional.empty(), false, sequence, 0, total, key, target, 0, lane);
    }

    private static Frame clear(int word, long sequence) {
        return frame(Frame.Kind.CLEAR, word, sequence, 0, 5, 6, BULK);
    }

    private static Frame request(long sequence, long total) {
        return frame(Frame.Kind.REQUEST, 0, sequence, total, 0, 0, BULK);
    }

    private static Frame finished(long sequence, long total, int lane) {
        return frame(Frame.Kind.FINISHED, 0, sequence, total, 0, 0, lane);
    }

    private void runLoop() {
        while (!loop.isEmpty()) {
            loop.poll().run();
        }
    }

    private Frame answer() {
        assertEquals(1, said.size());
        return said.removeFirst();
    }

    private SealedBuffer asked(long number) {
        SealedBuffer handle = bytes(10);
        way.asked(number, handle);
        return handle;
    }

    private void meet() {
        way.meet(new byte[] {9});
    }

    private boolean takes(Frame.Kind kind, long number, long bytes) {
        try (SealedBuffer handle = bytes(10)) {
            return way.takes(kind, number, bytes, handle);
        }
    }

    @Test
    void offerIsTheLinesAddress() {
        assertArrayEquals(BulkOffer.part(line.address()), way.offer());
    }

    @Test
    void longMessagesGoThisWayOnceThePeerHasGreeted() {
        assertFalse(takes(Frame.Kind.DIRECT, -1, ABOVE), "the peer has not");
        way.meet(null);
        assertFalse(takes(Frame.Kind.DIRECT, -1, ABOVE), "it has no end of a line");
        meet();
        assertTrue(takes(Frame.Kind.DIRECT, -1, ABOVE));
        assertFalse(takes(Frame.Kind.DIRECT, -1, ABOVE - 1));
        assertTrue(takes(Frame.Kind.BROADCAST, 4, Integer.MAX_VALUE));
        assertFalse(takes(Frame.Kind.BROADCAST, 4, 1L + Integer.MAX_VALUE), "it could not come in one piece");
        assertTrue(takes(Frame.Kind.DIRECT, 4, 1L + Integer.MAX_VALUE));
        assertFalse(takes(Frame.Kind.CONFIRM, 4, ABOVE));
        assertFalse(way.takes(Frame.Kind.DIRECT, -1, ABOVE, null), "what still lands");
        line.takesNothing = true;
        assertFalse(takes(Frame.Kind.DIRECT, -1, ABOVE));
        line.takesNothing = false;
        asked(4);
        assertFalse(takes(Frame.Kind.DIRECT, -1, ABOVE), "one at a time");
        way.close();
    }

    @Test
    void lineWithAWrongAddressIsNotUsed() {
        line.connectFails = true;
        meet();
        assertFalse(takes(Frame.Kind.DIRECT, -1, ABOVE));
        assertEquals(List.of(), failures);
    }

    @Test
    void messageIsAskedForWrittenAndOver() throws Exception {
        meet();
        SealedBuffer handle = asked(4);
        assertTrue(way.isWaiting(4, false));
        assertFalse(way.isWaiting(4, true), "a skipped one is told at once");
        assertFalse(way.isWaiting(5, false));
        way.cleared(clear(GRANTED, 3));
        assertTrue(handle.isOpen(), "an answer to an earlier question");
        way.cleared(clear(GRANTED, 4));
        assertEquals(List.of("10 key=5 target=6"), line.writes);
        assertFalse(handle.isOpen(), "the line holds its own");
        assertTrue(way.isWaiting(4, true), "the peer's memory is being written to");
        way.cleared(clear(GRANTED, 4));
        assertEquals(1, line.writes.size(), "an answer that comes twice");
        way.askAgain();
        assertTrue(way.isWaiting(4, false), "it was granted already");
        line.written.complete(null);
        assertFalse(way.isWritten(4), "not by the line's thread");
        runLoop();
        assertTrue(way.isWritten(4));
        assertFalse(way.isWritten(5));
        assertFalse(way.isWaiting(4, false));
        assertEquals(1, pumps);
        way.over(3);
        assertTrue(way.isWritten(4));
        way.over(4);
        assertFalse(way.isWritten(4));
        assertTrue(takes(Frame.Kind.DIRECT, -1, ABOVE));
    }

    @Test
    void refusedMessageGoesByTheConnectionAndTheNextIsAskedFor() {
        meet();
        SealedBuffer handle = asked(4);
        way.cleared(clear(REFUSED, 4));
        assertFalse(handle.isOpen());
        assertTrue(way.isRefused(4));
        assertFalse(way.isRefused(5));
        assertEquals(1, pumps);
        assertFalse(takes(Frame.Kind.DIRECT, 4, ABOVE));
        assertTrue(takes(Frame.Kind.DIRECT, 5, ABOVE));
    }

    @Test
    void peerWithoutALineIsAskedNoMore() {
        meet();
        asked(4);
        way.cleared(clear(NO_LINE, 4));
        assertFalse(takes(Frame.Kind.DIRECT, 5, ABOVE));
        assertEquals(List.of(), failures);
    }

    @Test
    void peerThatHasForgottenIsAskedAgain() {
        meet();
        SealedBuffer handle = asked(4);
        way.askAgain();
        assertFalse(handle.isOpen());
        assertFalse(way.isWaiting(4, false));
        assertTrue(takes(Frame.Kind.DIRECT, 4, ABOVE));
        way.cleared(clear(GRANTED, 4));
        assertEquals(List.of(), line.writes, "an answer to what was forgotten");
    }

    @Test
    void lineThatFailsEndsTheConnection() {
        meet();
        asked(4);
        way.cleared(clear(GRANTED, 4));
        line.written.completeExceptionally(new IOException("cut"));
        runLoop();
        assertEquals("cut", failures.getFirst().getMessage());
        assertFalse(way.isWritten(4));
        assertEquals(0, pumps);
    }

    @Test
    void lineThatRefusesToWriteEndsTheConnection() {
        meet();
        line.writeFails = true;
        SealedBuffer handle = asked(4);
        way.cleared(clear(GRANTED, 4));
        assertEquals("device refuses", failures.getFirst().getMessage());
        assertFalse(handle.isOpen());
    }

    @Test
    void writeOfAnEarlierMessageIsNotThatOfThisOne() {
        meet();
        asked(4);
        way.cleared(clear(GRANTED, 4));
        CompletableFuture<Void> earlier = line.written;
        way.over(4);
        asked(5);
        line.written = new CompletableFuture<>();
        way.cleared(clear(GRANTED, 5));
        earlier.complete(null);
        runLoop();
        assertFalse(way.isWritten(5));
        line.written.complete(null);
        runLoop();
        assertTrue(way.isWritten(5));
    }

    @Test
    void writeThatWorkedEndsThePauses() {
        backoff.failed(0, new IOException("once"));
        assertNull(backoff.open(0, _ -> {}));
        meet();
        asked(4);
        way.cleared(clear(GRANTED, 4));
        line.written.complete(null);
        runLoop();
        assertNotNull(backoff.open(0, _ -> {}));
    }

    @Test
    void requestIsGrantedOnceHoweverOftenItComes() throws Exception {
        way.requested(request(4, 10), true);
        assertEquals(NO_LINE, answer().tag(), "the peer's end is not known");
        meet();
        way.requested(request(4, 10), true);
        Frame granted = answer();
        assertEquals(Frame.Kind.CLEAR, granted.kind());
        assertEquals(GRANTED, granted.tag());
        assertEquals(2, granted.origin());
        assertEquals(4, granted.sequence());
        assertEquals(77, granted.session());
        assertEquals(88, granted.number());
        assertEquals(BULK, granted.lane());
        way.requested(request(4, 10), true);
        assertEquals(granted, answer());
        assertEquals(1, line.landings.size());
        assertEquals(10, line.landings.getFirst().byteSize);
        assertThrows(IOException.class, () -> way.requested(request(5, 10), true));
        assertThrows(IOException.class, () -> way.requested(request(4, 11), true));
        assertEquals(1, line.landings.size());
        assertEquals(List.of(), said);
    }

    @Test
    void messageThatIsHereAlreadyOrHasNoRoomIsRefused() throws Exception {
        meet();
        way.requested(request(4, 10), false);
        assertEquals(REFUSED, answer().tag());
        line.hasNoRoom = true;
        way.requested(request(5, 10), true);
        Frame refused = answer();
        assertEquals(REFUSED, refused.tag());
        assertEquals(5, refused.sequence());
        assertEquals(List.of(), line.landings);
        assertThrows(IOException.class, () -> way.finished(finished(5, 10, BULK)));
    }

    @Test
    void finishedMessageIsSealedOnce() throws Exception {
        meet();
        assertThrows(IOException.class, () -> way.finished(finished(4, 10, BULK)));
        way.requested(request(4, 10), true);
        assertThrows(IOException.class, () -> way.finished(finished(5, 10, BULK)));
        assertThrows(IOException.class, () -> way.finished(finished(4, 9, BULK)));
        assertThrows(IOException.class, () -> way.finished(finished(4, 10, 0)));
        Frame withBytes = new Frame(Frame.Kind.FINISHED, 0, 3, Optional.empty(), false, 4, 0, 10, 0, 0, 1, BULK);
        assertThrows(IOException.class, () -> way.finished(withBytes));
        assertFalse(line.landings.getFirst().sealed);
        way.finished(finished(4, 10, BULK)).close();
        assertTrue(line.landings.getFirst().sealed);
        assertThrows(IOException.class, () -> way.finished(finished(4, 10, BULK)));
        assertEquals(List.of(), failures);
        // the next one has memory of its own
        way.requested(request(5, 10), true);
        assertEquals(2, line.landings.size());
    }

    @Test
    void messageThatTheDeviceHoldsEndsTheConnection() throws Exception {
        meet();
        way.requested(request(4, 10), true);
        line.sealFails = true;
        assertThrows(IOException.class, () -> way.finished(finished(4, 10, BULK)));
        assertEquals("device has not let go", failures.getFirst().getMessage());
    }

    @Test
    void onlyASkipEndsALanding() throws Exception {
        meet();
        Frame skip = frame(Frame.Kind.SKIP, 0, 4, 10, 0, 0, BULK);
        way.passed(skip);
        way.requested(request(4, 10), true);
        said.clear();
        assertThrows(IOException.class, () -> way.passed(frame(Frame.Kind.DIRECT, 0, 4, 10, 0, 0, BULK)));
        assertFalse(line.landings.getFirst().closed);
        way.passed(skip);
        assertTrue(line.landings.getFirst().closed);
        assertThrows(IOException.class, () -> way.finished(finished(4, 10, BULK)));
        way.requested(request(5, 12), true);
        assertEquals(GRANTED, answer().tag());
    }

    @Test
    void closedOneHoldsNothingAndHearsNothing() throws Exception {
        meet();
        way.requested(request(7, 10), true);
        said.clear();
        SealedBuffer handle = asked(4);
        line.closeThrows = true;
        way.close();
        way.close();
        assertEquals(1, line.closes);
        assertFalse(handle.isOpen());
        assertFalse(takes(Frame.Kind.DIRECT, -1, ABOVE));
        assertThrows(IOException.class, () -> way.finished(finished(7, 10, BULK)));
        way.requested(request(7, 10), true);
        assertEquals(NO_LINE, answer().tag());
    }

    @Test
    void writeThatEndsAfterTheCloseIsNoFailure() {
        meet();
        asked(4);
        way.cleared(clear(GRANTED, 4));
        way.close();
        line.written.completeExceptionally(new IOException("ended with the line"));
        runLoop();
        assertEquals(List.of(), failures);
        assertEquals(0, pumps);
    }

    /// A user's listener to handles.
    @Test
    void releaseThatThrowsEndsNoConnection() {
        meet();
        SealedBuffer handle = SealedBuffer.adopt(MemorySegment.ofArray(new byte[10]), () -> {
            throw new IllegalStateException("thrown by the test");
        });
        way.asked(4, handle);
        way.askAgain();
        assertFalse(handle.isOpen());
        assertFalse(way.isWaiting(4, false));
    }
}
