// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import io.bulla.runtime.oob.BroadcastResult;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.internal.flow.Credit;
import io.bulla.runtime.oob.internal.peer.BroadcastSink;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.testkit.heap.HeapCost;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// One broadcast at one node: what lands, what is sent on of it, and what is said of it.
class LandingTest {

    private static final int FRAGMENT = Frame.MIN_FRAGMENT;
    private static final int TOTAL = 3 * FRAGMENT + 5;

    private final byte[] content = new byte[TOTAL];
    private final Broadcast broadcast = broadcast(TOTAL, null);
    private final List<SealedBuffer> handles = new ArrayList<>();
    private int released;

    LandingTest() {
        for (int i = 0; i < TOTAL; i++) {
            content[i] = (byte) (i * 31 >> 3);
        }
    }

    private static Broadcast broadcast(long total, @Nullable CompletableFuture<BroadcastResult> result) {
        return new Broadcast(new BroadcastKey(1, 2, 3), 4, SendOptions.DEFAULT, false, total, result, 0);
    }

    private boolean land(long offset, long length) {
        byte[] bytes = Arrays.copyOfRange(content, (int) offset, (int) (offset + length));
        handles.add(SealedBuffer.adopt(MemorySegment.ofArray(bytes), () -> released++));
        return broadcast.land(offset, handles.getLast());
    }

    /// A listener for handles that fails.
    @Test
    void pieceThatFailsKeepsNoPart() {
        int[] open = {0};
        int[] before = {Integer.MAX_VALUE};
        LeaseTrace trace = new LeaseTrace() {
            @Override
            public Object opened(Lease lease, RefCount count, @Nullable Object tag) {
                if (before[0]-- == 0) {
                    throw new IllegalStateException("no more");
                }
                open[0]++;
                return this;
            }

            @Override
            public void closed(Lease lease, Object traced) {
                open[0]--;
            }

            @Override
            public void lost(Object traced) {
                open[0]--;
            }
        };
        try (ArenaSource source = ArenaSource.builder().trace(trace).build()) {
            for (int i = 0; i < 3; i++) {
                try (BufferBuilder builder = BufferBuilder.ofCapacity(source, 10)) {
                    broadcast.land(10 * i, builder.put(new byte[10]).seal());
                }
            }
            int failed = 0;
            for (before[0] = 0; failed >= 0; before[0] = ++failed) {
                try (SealedBuffer piece = broadcast.piece(0, 30)) {
                    assertEquals(30, piece.byteSize());
                    break;
                } catch (IllegalStateException expected) {
                    assertEquals(3, open[0], "parts that are open, failed=" + failed);
                }
            }
            assertTrue(failed > 3, "each slice and the piece failed once: " + failed);
            assertEquals(3, open[0]);
            broadcast.letGo(SealedBuffer::close);
        }
    }

    /// A listener for handles that fails when one is closed.
    @Test
    void pieceWhosePartsDoNotCloseIsNotGivenOut() {
        int[] open = {0};
        int[] before = {Integer.MAX_VALUE};
        LeaseTrace trace = new LeaseTrace() {
            @Override
            public Object opened(Lease lease, RefCount count, @Nullable Object tag) {
                open[0]++;
                return this;
            }

            @Override
            public void closed(Lease lease, Object traced) {
                open[0]--;
                if (before[0]-- == 0) {
                    throw new IllegalStateException("not closed, as told");
                }
            }

            @Override
            public void lost(Object traced) {
                open[0]--;
            }
        };
        try (ArenaSource source = ArenaSource.builder().trace(trace).build()) {
            for (int i = 0; i < 3; i++) {
                try (BufferBuilder builder = BufferBuilder.ofCapacity(source, 10)) {
                    broadcast.land(10 * i, builder.put(new byte[10]).seal());
                }
            }
            for (int failing = 0; failing < 3; failing++) {
                before[0] = failing;
                assertThrows(IllegalStateException.class, () -> broadcast.piece(0, 30), "slice " + failing);
                assertEquals(3, open[0], "parts that are open, failing=" + failing);
            }
            before[0] = Integer.MAX_VALUE;
            broadcast.letGo(SealedBuffer::close);
        }
    }

    private void assertPiece(long offset, int most, long length) {
        try (SealedBuffer piece = broadcast.piece(offset, most)) {
            assertArrayEquals(Arrays.copyOfRange(content, (int) offset, (int) (offset + length)), piece.toByteArray());
        }
    }

    /// An origin may cut as small as it likes: what a relay does for a piece does not grow with the message.
    @Test
    void pieceOfAMessageOfManyPartsCostsAsMuchAsOneOfFew() {
        int count = 1 << 15;
        Broadcast large = broadcast((long) count * FRAGMENT, null);
        MemorySegment bytes = MemorySegment.ofArray(new byte[FRAGMENT]);
        for (int i = 0; i < count; i++) {
            assertTrue(large.land((long) i * FRAGMENT, SealedBuffer.adopt(bytes, () -> {})));
        }
        HeapCost.atMost(
                2000, () -> {}, i -> large.piece(16L * i * FRAGMENT, FRAGMENT).close());
        large.letGo(SealedBuffer::close);
    }

    @AfterEach
    void allIsLetGo() {
        broadcast.letGo(SealedBuffer::close);
        handles.forEach(each -> assertFalse(each.isOpen()));
        assertEquals(handles.size(), released, "a piece has kept a part");
    }

    @Test
    void whatIsNewOfAFragmentLands() {
        assertTrue(land(0, 10));
        assertEquals(10, broadcast.landed());
        assertFalse(land(11, 5), "there is a gap");
        assertFalse(land(0, 10), "all of it is here");
        assertFalse(land(3, 4));
        assertEquals(10, broadcast.landed());
        assertTrue(land(5, 10), "half of it is new");
        assertEquals(15, broadcast.landed());
        assertTrue(land(15, TOTAL - 16));
        assertFalse(broadcast.isWhole());
        assertTrue(land(0, TOTAL), "the last byte is");
        assertTrue(broadcast.isWhole());
        try (SealedBuffer whole = broadcast.whole()) {
            assertArrayEquals(content, whole.toByteArray());
        }
    }

    @Test
    void emptyBroadcastLandsOnce() {
        Broadcast empty = broadcast(0, null);
        assertFalse(empty.isWhole(), "nothing has come");
        SealedBuffer first = SealedBuffer.concat();
        assertTrue(empty.land(0, first));
        assertTrue(empty.isWhole());
        assertFalse(empty.land(0, SealedBuffer.concat()));
        try (SealedBuffer whole = empty.whole()) {
            assertEquals(0, whole.byteSize());
        }
        empty.letGo(SealedBuffer::close);
        assertFalse(first.isOpen());
    }

    @Test
    void fragmentIsSentOnWhenThereIsEnoughOrAll() {
        land(0, FRAGMENT - 1);
        assertFalse(broadcast.has(0, TOTAL));
        land(FRAGMENT - 1, 1);
        assertTrue(broadcast.has(0, TOTAL));
        assertFalse(broadcast.has(1, TOTAL));
        assertFalse(broadcast.has(0, FRAGMENT - 1), "no more is to be written at once");
        land(FRAGMENT, TOTAL - FRAGMENT);
        assertTrue(broadcast.has(TOTAL - 1, TOTAL), "the rest, however short");
        assertFalse(broadcast.has(TOTAL - 9, 8));
    }

    @Test
    void pieceEndsWhereAPartDoes() {
        land(0, FRAGMENT);
        land(FRAGMENT, 5);
        land(FRAGMENT + 5, 2 * FRAGMENT);
        assertPiece(0, TOTAL, FRAGMENT);
        assertPiece(10, TOTAL, FRAGMENT - 5 + 2 * FRAGMENT);
        assertPiece(0, FRAGMENT + 5, FRAGMENT);
        assertPiece(FRAGMENT, FRAGMENT, FRAGMENT);
        assertPiece(FRAGMENT + 5, FRAGMENT, FRAGMENT);
        assertPiece(FRAGMENT + 7, FRAGMENT, FRAGMENT);
        assertPiece(FRAGMENT + 5, TOTAL, 2 * FRAGMENT);
    }

    @Test
    void bytesGoOnceAndTheChargeWithThem() {
        List<Long> consumed = new ArrayList<>();
        BroadcastSink.Sender sender = new BroadcastSink.Sender() {
            @Override
            public int rank() {
                return 1;
            }

            @Override
            public void consumed(Credit credit, long charge) {}

            @Override
            public void consumed(Credit credit, long charge, int depth) {
                consumed.add(charge);
            }
        };
        broadcast.charge.add(sender, new Credit(1000), 70, 1);
        // the handler's
        broadcast.charge.share();
        land(0, TOTAL);
        assertFalse(broadcast.isOver());
        broadcast.letGo(SealedBuffer::close);
        assertTrue(broadcast.isOver());
        assertFalse(broadcast.isWhole());
        broadcast.letGo(SealedBuffer::close);
        assertEquals(List.of(), consumed, "the handler has it still");
        broadcast.charge.release();
        assertEquals(List.of(70L), consumed);
    }

    @Test
    void whatDiffersWaitsFromTheFirstOn() {
        Frame last = new Frame(Frame.Kind.BROADCAST, 4, 1, Optional.empty(), false, 0, 0, 9, 2, 3, 9, 0);
        broadcast.landedAt = 100;
        assertEquals(100, broadcast.waitsSince());
        broadcast.differs(5, last, 200);
        assertEquals(100, broadcast.waitsSince());
        broadcast.landedAt = 300;
        assertEquals(200, broadcast.waitsSince(), "no byte now and then wins time");
        broadcast.differs(6, last, 250);
        assertEquals(200, broadcast.waitsSince());
        broadcast.differing.remove(5);
        assertEquals(200, broadcast.waitsSince());
        broadcast.differing.remove(6);
        assertEquals(300, broadcast.waitsSince(), "no parent waits any more");
        broadcast.differs(7, last, 280);
        assertEquals(280, broadcast.waitsSince());
    }

    @Test
    void oneWithoutParentsIsAbandonedUnlessItIsWholeOrOwn() {
        assertTrue(broadcast.isAbandoned());
        broadcast.parents.add(6);
        assertFalse(broadcast.isAbandoned());
        broadcast.parents.remove(6);
        land(0, TOTAL);
        assertFalse(broadcast.isAbandoned());
        assertFalse(broadcast(5, new CompletableFuture<>()).isAbandoned());
    }

    @Test
    void outcomeCountsThisNodeAndAllBelow() {
        assertEquals(new Broadcast.Outcome(1, List.of()), broadcast.outcome());
        broadcast.confirmed(3, List.of(9, 8));
        broadcast.failed(7);
        broadcast.failed(8);
        broadcast.confirmed(2, List.of());
        assertEquals(new Broadcast.Outcome(6, List.of(7, 8, 9)), broadcast.outcome());
        assertFalse(broadcast.refused);
        broadcast.refuse(5);
        assertTrue(broadcast.refused);
        assertEquals(new Broadcast.Outcome(5, List.of(5, 7, 8, 9)), broadcast.outcome());
        Broadcast own = broadcast(5, new CompletableFuture<>());
        own.confirmed(2, List.of());
        assertEquals(2, own.outcome().reached(), "the origin counts the others");
    }

    @Test
    void childIsAskedOnce() {
        assertTrue(broadcast.ask(3));
        assertFalse(broadcast.ask(3));
        assertTrue(broadcast.ask(4));
    }
}
