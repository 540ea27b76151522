// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.PosixException;
import io.bulla.posix.fixtures.NothingStays;
import io.bulla.posix.fixtures.SendFixture;
import io.bulla.posix.fixtures.ZeroCopySockets;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A release calls the outbox or the socket that calls it: nothing is done twice, and nothing is touched that the
/// call has ended.
@ExtendWith(NothingStays.class)
class CallingReleasesTest {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int BYTES = 100;

    private final List<String> released = new ArrayList<>();

    private interface Step {
        void run() throws PosixException;
    }

    private SealedBuffer buffer(String name, Step release) {
        return SealedBuffer.adopt(Arena.ofAuto().allocate(BYTES), () -> {
            released.add(name);
            try {
                release.run();
            } catch (PosixException failure) {
                throw new IllegalStateException(failure);
            }
        });
    }

    /// Before the sockets: a test that is skipped leaves none behind.
    private static Outbox open(SendPath path) {
        Outbox outbox = Outbox.open(path);
        if (outbox.path() != path) {
            outbox.close();
            Piece.IO_URING.orSkip("path=" + outbox.path() + " wanted=" + path);
        }
        return outbox;
    }

    @ParameterizedTest
    @EnumSource(names = "ZEROCOPY", mode = EnumSource.Mode.EXCLUDE)
    void releaseMayCloseItsOutbox(SendPath path) throws Exception {
        Outbox outbox = open(path);
        PosixSocket[] pair = PosixSocket.unixPair();
        PosixSocket[] other = PosixSocket.unixPair();
        outbox.moveAndSend(pair[0], buffer("first", outbox::close));
        outbox.moveAndSend(pair[0], buffer("behind it", () -> {}));
        outbox.moveAndSend(other[0], buffer("beside it", () -> {}));
        while (!released.contains("first")) {
            outbox.progress(100);
        }
        assertEquals(0, outbox.unfinished());
        assertEquals(0, outbox.progress(0));
        assertEquals(
                List.of("behind it", "beside it", "first"),
                released.stream().sorted().toList());
        outbox.close();
        for (PosixSocket[] each : List.of(pair, other)) {
            each[0].close();
            each[1].close();
        }
    }

    @ParameterizedTest
    @EnumSource(names = "ZEROCOPY", mode = EnumSource.Mode.EXCLUDE)
    void releaseMayAskItsOutboxForProgressAndSendMore(SendPath path) throws Exception {
        Outbox outbox = open(path);
        PosixSocket[] pair = PosixSocket.unixPair();
        PosixSocket[] other = PosixSocket.unixPair();
        for (int i = 0; i < 3; i++) {
            String name = "first " + i;
            outbox.moveAndSend(pair[0], buffer(name, () -> {
                outbox.moveAndSend(other[0], buffer(name + ", more", () -> {}));
                outbox.progress(0);
            }));
        }
        assertTrue(outbox.finish(SOON));
        assertEquals(6, released.size());
        assertEquals(3 * BYTES, SendFixture.receive(pair[1], 3 * BYTES).length);
        assertEquals(3 * BYTES, SendFixture.receive(other[1], 3 * BYTES).length);
        outbox.close();
        for (PosixSocket[] each : List.of(pair, other)) {
            each[0].close();
            each[1].close();
        }
    }

    @Test
    @Needs(value = Piece.ZERO_COPY, by = ZeroCopySockets.class)
    void releaseDoesNotSendInTheMiddleOfASend() throws Exception {
        PosixSocket[] pair = SendFixture.tcpPair();
        ZeroCopySocket socket = ZeroCopySocket.over(pair[0]);
        List<String> refused = new ArrayList<>();
        socket.moveAndSend(buffer("first", () -> {
            SealedBuffer more = buffer("more", () -> {});
            refused.add(assertThrows(IllegalStateException.class, () -> socket.moveAndSend(more))
                    .getMessage());
        }));
        int sends = 1;
        for (long end = System.nanoTime() + SOON.toNanos();
                !released.contains("first") && System.nanoTime() - end < 0;
                sends++) {
            // takes up what the kernel has done, before it sends
            socket.moveAndSend(buffer("next", () -> {}));
        }
        assertTrue(refused.getFirst().startsWith("send out of order"), refused::toString);
        assertTrue(socket.finish(SOON));
        assertEquals(sends + 1, released.size());
        assertEquals(sends * BYTES, SendFixture.receive(pair[1], sends * BYTES).length);
        socket.close();
        pair[1].close();
    }

    /// The sender waits for the one that takes up, which would wait for the sender.
    @Test
    @Needs(value = Piece.ZERO_COPY, by = ZeroCopySockets.class)
    void closeOutOfAReleaseDoesNotWaitForAnotherThreadsSend() throws Exception {
        PosixSocket[] pair = SendFixture.tcpPair();
        ZeroCopySocket socket = ZeroCopySocket.over(pair[0]);
        List<String> refused = new ArrayList<>();
        List<Thread> senders = new ArrayList<>();
        socket.moveAndSend(buffer("first", () -> {
            SealedBuffer beside = SealedBuffer.adopt(Arena.ofAuto().allocate(BYTES), () -> {});
            Thread sender = Thread.ofPlatform()
                    .daemon()
                    .start(() -> assertThrows(PosixException.class, () -> socket.moveAndSend(beside)));
            senders.add(sender);
            for (long end = System.nanoTime() + SOON.toNanos();
                    sender.getState() != Thread.State.BLOCKED && System.nanoTime() - end < 0; ) {
                Thread.onSpinWait();
            }
            refused.add(assertThrows(IllegalStateException.class, socket::close).getMessage());
        }));
        assertTrue(socket.finish(SOON));
        assertTrue(refused.getFirst().contains("a send is under way"), refused::toString);
        senders.getFirst().join();
        socket.close();
        assertFalse(pair[0].isOpen());
        pair[1].close();
    }

    @Test
    @Needs(value = Piece.ZERO_COPY, by = ZeroCopySockets.class)
    void releaseMayCloseItsZeroCopySocket() throws Exception {
        PosixSocket[] pair = SendFixture.tcpPair();
        ZeroCopySocket socket = ZeroCopySocket.over(pair[0]);
        socket.moveAndSend(buffer("first", socket::close));
        assertTrue(socket.finish(SOON));
        assertEquals(List.of("first"), released);
        assertFalse(pair[0].isOpen());
        assertEquals(0, socket.reap());
        pair[1].close();
    }
}
