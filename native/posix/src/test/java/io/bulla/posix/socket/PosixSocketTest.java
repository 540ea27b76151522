// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import static io.bulla.posix.fixtures.SendFixture.receive;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.iovec.NativeIoVec;
import io.bulla.iovec.NativeIoVecCursor;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.fixtures.Descriptors;
import io.bulla.posix.fixtures.Pieces;
import io.bulla.posix.internal.calls.Libc;
import io.bulla.refcount.LeaseTally;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PosixSocketTest {

    private static final int MIB = 1 << 20;

    private final LeaseTally handles = new LeaseTally();
    private final MemoryBudget budget = MemoryBudget.unlimited();
    private final ArenaSource source =
            ArenaSource.builder().budget(budget).trace(handles).build();
    private final Arena arena = Arena.ofShared();
    private PosixSocket[] pair;
    private long files;

    @TempDir
    private Path directory;

    @BeforeEach
    void openPair() throws IOException {
        PosixSocket.unixPair()[0].close();
        pair = PosixSocket.unixPair();
        files = Descriptors.open();
    }

    @AfterEach
    void nothingStays() throws IOException, InterruptedException {
        Descriptors.assertOpen(files);
        pair[0].close();
        pair[1].close();
        Descriptors.assertOpen(files - 2);
        arena.close();
        assertEquals(0, handles.open());
        source.close(Duration.ofSeconds(60));
        assertEquals(0, budget.used());
    }

    private static byte[] random(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    private NativeIoVecCursor cursor(IoVec vec) {
        return NativeIoVecCursor.of(NativeIoVec.of(vec, arena), arena, 16);
    }

    @Test
    void gathersByEitherCall() throws PosixException {
        byte[] bytes = random(9193);
        IoVec vec = Pieces.of(arena, bytes, 0, 1, 4095, 0, 4097, 1000);
        for (int way = 0; way < 3; way++) {
            NativeIoVecCursor cursor = cursor(vec);
            if (way == 2) {
                assertEquals(1, pair[0].sendmmsg(cursor));
            } else {
                assertEquals(bytes.length, way == 0 ? pair[0].writev(cursor) : pair[0].sendmsg(cursor));
                assertEquals(0, pair[0].sendmsg(cursor));
            }
            assertEquals(0, cursor.remaining());
            assertArrayEquals(bytes, receive(pair[1], bytes.length));
        }
    }

    @Test
    void sendsMoreRegionsThanOneCallTakes() throws PosixException {
        int regions = 3 * Libc.IOV_MAX + 5;
        byte[] bytes = random(regions);
        int[] lengths = new int[regions];
        Arrays.fill(lengths, 1);
        IoVec vec = Pieces.of(arena, bytes, lengths);
        NativeIoVecCursor cursor = cursor(vec);
        CompletableFuture<byte[]> received = CompletableFuture.supplyAsync(() -> receive(pair[1], regions));
        while (cursor.remaining() > 0) {
            assertTrue(pair[0].writev(cursor) > 0);
        }
        assertArrayEquals(bytes, received.join());
        received = CompletableFuture.supplyAsync(() -> receive(pair[1], regions));
        pair[0].moveAndSend(SealedBuffer.adopt(vec.toSegment(arena), () -> {}));
        assertArrayEquals(bytes, received.join());
    }

    @Test
    void answersZeroInsteadOfWaiting() throws PosixException {
        NativeIoVecCursor cursor = cursor(Pieces.of(arena, random(4 * MIB), 4 * MIB));
        for (boolean first = true; first || cursor.position() == 0; first = false) {
            pair[0].setBlocking(false);
            while (pair[0].sendmsg(cursor) > 0) {}
        }
        assertTrue(cursor.position() > 0 && cursor.remaining() > 0);
        assertEquals(0, pair[0].writev(cursor));
        assertEquals(0, pair[0].sendmmsg(cursor));
        assertFalse(pair[0].awaitWritable(10));
        pair[1].setBlocking(false);
        byte[] got = receive(pair[1], (int) cursor.position());
        assertEquals(cursor.position(), got.length);
        assertEquals(0, pair[1].receive(arena.allocate(1)));
        assertTrue(pair[0].awaitWritable(1000));
        assertFalse(pair[1].awaitReadable(10));
    }

    @Test
    void sendsWholeBuffersOverTcpToASlowPeer() throws Exception {
        byte[] bytes = random(MIB);
        try (PosixSocket server = PosixSocket.listen(0);
                PosixSocket client = PosixSocket.connect(server.port());
                PosixSocket peer = server.accept()) {
            client.setSendBuffer(4096);
            client.setBlocking(false);
            CompletableFuture<byte[]> received = CompletableFuture.supplyAsync(
                    () -> receive(peer, bytes.length), CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS));
            client.moveAndSend(BufferBuilder.create(source).put(bytes).seal());
            assertArrayEquals(bytes, received.join());
        }
    }

    @Test
    void connectsOverAUnixPath() throws PosixException {
        Path path = directory.resolve("s");
        PosixSocket client;
        try (PosixSocket server = PosixSocket.listen(path)) {
            client = PosixSocket.connect(path);
            try (PosixSocket peer = server.accept()) {
                client.moveAndSend(
                        BufferBuilder.create(source).put(new byte[] {1, 2, 3}).seal());
                assertArrayEquals(new byte[] {1, 2, 3}, receive(peer, 3));
                client.close();
                assertEquals(-1, peer.receive(arena.allocate(1)));
            }
        }
    }

    @Test
    void peerThatClosedIsAnExceptionAndNotASignal() throws Exception {
        pair[1].close();
        SealedBuffer buffer = BufferBuilder.create(source).put(random(MIB)).seal();
        PosixException.PeerClosed closed =
                assertThrows(PosixException.PeerClosed.class, () -> pair[0].moveAndSend(buffer));
        assertEquals(Errno.EPIPE, closed.errno());
        assertTrue(closed.getMessage().startsWith("sendmsg: Broken pipe: errno=32 socket="), closed.getMessage());
        assertFalse(buffer.isOpen());
        NativeIoVecCursor cursor = cursor(Pieces.of(arena, random(10), 10));
        assertThrows(PosixException.PeerClosed.class, () -> pair[0].writev(cursor));
        assertEquals(0, cursor.position());
        files--;
        pair[1] = PosixSocket.unixPair()[0];
        files = Descriptors.open();
    }

    /// The kernel reads on while every other handle is closed, and all arrives.
    @Test
    void blockedSendKeepsItsMemory() throws Exception {
        byte[] bytes = random(2 * MIB);
        SealedBuffer buffer = BufferBuilder.create(source).put(bytes).seal();
        SealedBuffer send = buffer.share();
        CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
            try {
                pair[0].moveAndSend(send);
            } catch (PosixException e) {
                throw new IllegalStateException(e);
            }
        });
        assertTrue(pair[1].awaitReadable(60_000));
        buffer.close();
        Thread.sleep(50);
        assertFalse(sent.isDone());
        assertTrue(send.isOpen());
        assertArrayEquals(bytes, receive(pair[1], bytes.length));
        sent.get(60, TimeUnit.SECONDS);
        assertFalse(send.isOpen());
    }

    /// What the handle is for: without it an arena closes beneath a blocked call, for the JDK does not see
    /// addresses inside a `struct iovec`.
    @Test
    void arenaAloneClosesBeneathABlockedWritev() throws Exception {
        Arena body = Arena.ofShared();
        NativeIoVec image = NativeIoVec.of(IoVec.of(body.allocate(2 * MIB)), arena);
        NativeIoVecCursor cursor = NativeIoVecCursor.of(image, arena, 1);
        CompletableFuture<Long> blocked = CompletableFuture.supplyAsync(() -> {
            try {
                return pair[0].writev(cursor);
            } catch (PosixException e) {
                return (long) -e.number();
            }
        });
        assertTrue(pair[1].awaitReadable(60_000));
        Thread.sleep(20);
        body.close();
        assertFalse(blocked.isDone());
        receive(pair[1], 2 * MIB);
        blocked.get(60, TimeUnit.SECONDS);
    }

    @Test
    void closeWakesABlockedSendAndGivesTheHandleBack() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
            started.countDown();
            try {
                pair[0].moveAndSend(
                        BufferBuilder.create(source).put(random(2 * MIB)).seal());
            } catch (PosixException e) {
                throw new IllegalStateException(e);
            }
        });
        started.await();
        assertTrue(pair[1].awaitReadable(60_000));
        Thread.sleep(20);
        pair[0].close();
        ExecutionException failed = assertThrows(ExecutionException.class, () -> sent.get(60, TimeUnit.SECONDS));
        assertTrue(failed.getCause().getCause() instanceof PosixException);
        assertEquals(
                "sendmsg: Bad file descriptor: errno=9 socket=closed",
                assertThrows(PosixException.class, () -> pair[0].sendmsg(cursor(Pieces.of(arena, random(1), 1))))
                        .getMessage());
        pair[0] = PosixSocket.unixPair()[0];
        files = Descriptors.open();
    }

    @Test
    void connectsOverBothInternetProtocols() throws IOException {
        for (String host : new String[] {"127.0.0.1", "::1"}) {
            InetAddress address = InetAddress.getByName(host);
            PosixSocket listener;
            try {
                listener = PosixSocket.listen(new InetSocketAddress(address, 0));
            } catch (PosixException noSuchProtocol) {
                assertEquals("::1", host, noSuchProtocol::getMessage);
                continue;
            }
            InetSocketAddress where = new InetSocketAddress(address, listener.port());
            try (listener;
                    PosixSocket sender = PosixSocket.connect(where);
                    PosixSocket receiver = listener.accept()) {
                byte[] bytes = random(100_000);
                CompletableFuture<byte[]> received =
                        CompletableFuture.supplyAsync(() -> receive(receiver, bytes.length));
                sender.moveAndSend(BufferBuilder.create(source).put(bytes).seal());
                assertArrayEquals(bytes, received.join());
            }
            PosixException refused = assertThrows(PosixException.class, () -> PosixSocket.connect(where));
            assertEquals(
                    "connect: Connection refused: errno=111 host=" + address.getHostAddress() + " port="
                            + where.getPort(),
                    refused.getMessage());
        }
    }

    @Test
    void refusesByName() {
        assertEquals(
                "no such host: nowhere.invalid",
                assertThrows(
                                IllegalArgumentException.class,
                                () -> PosixSocket.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
                        .getMessage());
        assertEquals(
                "no such TCP port: port=65536",
                assertThrows(IllegalArgumentException.class, () -> PosixSocket.connect(65536))
                        .getMessage());
        assertEquals(
                "path too long for a unix socket: bytes=120 limit=107 path=" + "x".repeat(120),
                assertThrows(IllegalArgumentException.class, () -> PosixSocket.listen(Path.of("x".repeat(120))))
                        .getMessage());
        PosixException refused =
                assertThrows(PosixException.class, () -> PosixSocket.connect(directory.resolve("none")));
        assertTrue(refused.getMessage().startsWith("connect: "), refused.getMessage());
        assertEquals(
                "cannot receive into this: byteSize=3 readOnly=false native=false",
                assertThrows(IllegalArgumentException.class, () -> pair[0].receive(MemorySegment.ofArray(new byte[3])))
                        .getMessage());
        SealedBuffer heap = SealedBuffer.adopt(MemorySegment.ofArray(new byte[4]), () -> {});
        assertEquals(
                "region lies on the heap: index=0 byteSize=4",
                assertThrows(IllegalArgumentException.class, () -> pair[0].moveAndSend(heap))
                        .getMessage());
        assertFalse(heap.isOpen());
    }
}
