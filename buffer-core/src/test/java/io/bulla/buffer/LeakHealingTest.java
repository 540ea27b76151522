// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.iovec.IoVec;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A forgotten handle is healed, and never beneath a live view.
class LeakHealingTest {

    private static final int SIZE = 4 << 20;
    private static final int SOCKET_BUFFER = 64 << 10;

    private final BlockingQueue<LeaseLedger.Holder> leaks = new LinkedBlockingQueue<>();
    private final LeaseLedger ledger = LeaseLedger.full().onLeak(leaks::add);
    private final MemoryBudget budget = new MemoryBudget(64 << 20);
    private final ArenaSource source = ArenaSource.create(budget, ledger);

    @AfterEach
    void everythingIsGivenBack() throws InterruptedException {
        source.close();
        Await.collected(() -> ledger.open().isEmpty());
        Await.until(() -> budget.used() == 0);
    }

    @Test
    void sendThatIsBlockedInAPipeKeepsWhatItsViewKeeps() throws Exception {
        Pipe pipe = Pipe.open();
        try (Pipe.SourceChannel from = pipe.source();
                Pipe.SinkChannel to = pipe.sink()) {
            blockedSend(from, to, view -> view, 0, SIZE);
        }
    }

    @Test
    void sendOfASliceOfAConcatenationThatIsBlockedInASocketKeepsEveryPart() throws Exception {
        // left to the system, the buffers of both ends may grow until they take the whole message
        try (ServerSocketChannel server = ServerSocketChannel.open();
                SocketChannel to = SocketChannel.open()) {
            server.setOption(StandardSocketOptions.SO_RCVBUF, SOCKET_BUFFER);
            to.setOption(StandardSocketOptions.SO_SNDBUF, SOCKET_BUFFER);
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            to.connect(server.getLocalAddress());
            try (SocketChannel from = server.accept()) {
                blockedSend(
                        from,
                        to,
                        view -> IoVec.concat(view, Bytes.vector(new byte[1])).slice(7, SIZE - 7),
                        7,
                        SIZE - 7);
            }
        }
    }

    private void blockedSend(
            ReadableByteChannel from, GatheringByteChannel to, UnaryOperator<IoVec> cut, int first, int length)
            throws Exception {
        IoVec[] slot = {cut.apply(forgottenHandle("peer-17"))};
        CountDownLatch sending = new CountDownLatch(1);
        Thread sender = Thread.ofPlatform().start(() -> {
            sending.countDown();
            try {
                taken(slot).writeTo(to);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        sending.await();
        ByteBuffer received = ByteBuffer.allocate(length);
        readTo(1, from, received);
        // the reader waits: neither channel takes 4 MiB at once, so the send is under way, and holds the view alone
        Await.collect(8);
        assertTrue(sender.isAlive());
        assertEquals(0, ledger.healed());
        assertEquals(1, ledger.open().size());
        readTo(length, from, received);
        sender.join();
        byte[] expected = new byte[length];
        System.arraycopy(Bytes.numbered(SIZE), first, expected, 0, length);
        assertArrayEquals(expected, received.array());
        Await.collected(() -> ledger.healed() == 1);
        assertEquals("peer-17", leaks.poll(60, TimeUnit.SECONDS).tag());
        Await.until(() -> budget.used() == 0);
    }

    /// The lease that was opened for a share, or a move, ends, or it would be healed beneath another holder.
    @Test
    void handleThatIsRefusedWithoutWordsIsOpenNowhere() {
        Hostile listener = new Hostile(ledger);
        try (ArenaSource asked = ArenaSource.create(budget, listener);
                SealedBuffer kept = Bytes.sealed(asked, 100)) {
            List<Consumer<SealedBuffer>> uses =
                    List.of(handle -> handle.share("late"), handle -> handle.shares(3), handle -> handle.move("late"));
            for (Consumer<SealedBuffer> use : uses) {
                SealedBuffer handle = kept.share();
                listener.closes = handle;
                assertThrows(ArithmeticException.class, () -> use.accept(handle));
                assertEquals(1, ledger.open().size());
                assertEquals(1, kept.holders());
            }
        }
    }

    /// Closes a handle as it hears of the next one, and cannot say who closed it.
    private static final class Hostile implements LeaseTrace {

        private final LeaseTrace listens;
        private @Nullable SealedBuffer closes;

        Hostile(LeaseTrace listens) {
            this.listens = listens;
        }

        @Override
        public Object opened(Lease lease, RefCount count, @Nullable Object tag) {
            Object traced = listens.opened(lease, count, tag);
            SealedBuffer now = closes;
            closes = null;
            if (now != null) {
                now.close();
            }
            return traced;
        }

        @Override
        public void closed(Lease lease, Object traced) {
            listens.closed(lease, traced);
        }

        @Override
        public void lost(Object traced) {
            listens.lost(traced);
        }

        @Override
        public Throwable closedBy(Lease lease) {
            throw new ArithmeticException("no words");
        }
    }

    @Test
    void viewsAndTheirSlicesKeepTheHandle() {
        IoVec slice = forgottenHandle("viewed").slice(100, 10);
        Await.collect(4);
        assertEquals(0, ledger.healed());
        assertEquals((byte) 105, slice.get(ValueLayout.JAVA_BYTE, 5));
        slice = null;
        Await.collected(() -> ledger.healed() == 1);
    }

    @Test
    void forgottenShareGivesBackItsOwnClaimAlone() throws InterruptedException {
        try (SealedBuffer kept = Bytes.sealed(source, 1000, "kept")) {
            forgetShareOf(kept);
            assertEquals(2, kept.holders());
            Await.collected(() -> ledger.healed() == 1);
            LeaseLedger.Holder lost = leaks.poll(60, TimeUnit.SECONDS);
            assertEquals("forgotten", lost.tag());
            assertEquals(1000, lost.size());
            assertEquals(1, kept.holders());
            assertEquals(
                    List.of("kept"),
                    ledger.open().stream().map(LeaseLedger.Holder::tag).toList());
            assertEquals(-1, kept.iovec().mismatch(Bytes.vector(Bytes.numbered(1000))));
        }
    }

    @Test
    void forgottenConcatenationHealsItsParts() {
        forgetConcatenation();
        Await.collected(() -> ledger.open().isEmpty());
        source.close();
        Await.until(() -> budget.used() == 0);
    }

    private IoVec forgottenHandle(String tag) {
        return Bytes.sealed(source, SIZE, tag).iovec();
    }

    private static void forgetShareOf(SealedBuffer buffer) {
        buffer.share("forgotten");
    }

    private void forgetConcatenation() {
        SealedBuffer.concat(Bytes.sealed(source, 10), Bytes.sealed(source, 20)).slice(5, 10);
    }

    private static IoVec taken(IoVec[] slot) {
        IoVec view = slot[0];
        slot[0] = null;
        return view;
    }

    private static void readTo(int position, ReadableByteChannel from, ByteBuffer into) throws IOException {
        into.limit(position);
        while (into.hasRemaining()) {
            if (from.read(into) < 0) {
                throw new IOException("ended early");
            }
        }
        into.limit(into.capacity());
    }
}
