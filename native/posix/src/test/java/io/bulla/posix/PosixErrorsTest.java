// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.iovec.NativeIoVec;
import io.bulla.iovec.NativeIoVecCursor;
import io.bulla.posix.fixtures.Fork;
import io.bulla.posix.fixtures.NothingStays;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.SyscallInterceptor;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.refcount.LeaseTally;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/// Each failure that a caller may want to tell apart, and each call that a close must wake.
@ExtendWith(NothingStays.class)
class PosixErrorsTest {

    private static final int MIB = 1 << 20;

    private final LeaseTally handles = new LeaseTally();
    private Arena arena;
    private ArenaSource source;

    @TempDir
    private Path directory;

    @BeforeEach
    void open() {
        arena = Arena.ofShared();
        source = ArenaSource.builder().trace(handles).build();
    }

    @AfterEach
    void everyHandleIsBack() throws InterruptedException {
        assertEquals(0, handles.open());
        source.close(Duration.ofSeconds(60));
        arena.close();
    }

    private interface Blocking {
        void run() throws PosixException;
    }

    private static PosixException fails(Errno errno, Executable call) {
        PosixException failed = assertThrows(PosixException.class, call);
        assertEquals(errno, failed.errno(), failed::getMessage);
        assertEquals(errno == Errno.EPIPE || errno == Errno.ECONNRESET, failed instanceof PosixException.PeerClosed);
        return failed;
    }

    private NativeIoVecCursor cursor(int bytes) {
        return NativeIoVecCursor.of(NativeIoVec.of(IoVec.of(arena.allocate(bytes)), arena), arena, 1);
    }

    private SealedBuffer sealed(int bytes) {
        return BufferBuilder.create(source).put(new byte[bytes]).seal();
    }

    @Test
    void brokenPipeByEveryCall() throws PosixException {
        PosixSocket[] pair = PosixSocket.unixPair();
        pair[1].close();
        try (PosixSocket sender = pair[0]) {
            NativeIoVecCursor cursor = cursor(3);
            for (boolean wait : new boolean[] {true, false}) {
                sender.setBlocking(wait);
                fails(Errno.EPIPE, () -> sender.writev(cursor));
                fails(Errno.EPIPE, () -> sender.sendmsg(cursor));
                fails(Errno.EPIPE, () -> sender.sendmmsg(cursor));
                fails(Errno.EPIPE, () -> sender.moveAndSend(sealed(3)));
            }
            assertEquals(0, cursor.position());
            assertEquals(-1, sender.receive(arena.allocate(1)));
        }
    }

    @Test
    void resetByAPeerThatAborts() throws Exception {
        try (PosixSocket server = PosixSocket.listen(0);
                PosixSocket client = PosixSocket.connect(server.port())) {
            PosixSocket peer = server.accept();
            client.moveAndSend(sealed(MIB / 4));
            peer.abort();
            assertTrue(client.awaitReadable(60_000));
            fails(Errno.ECONNRESET, () -> client.receive(arena.allocate(1)));
            fails(Errno.EPIPE, () -> client.writev(cursor(1)));
        }
        try (PosixSocket server = PosixSocket.listen(0);
                PosixSocket client = PosixSocket.connect(server.port())) {
            PosixSocket peer = server.accept();
            peer.abort();
            assertTrue(client.awaitReadable(60_000));
            fails(Errno.ECONNRESET, () -> client.moveAndSend(sealed(1)));
        }
    }

    /// A peer that has not read all must not take the end for an orderly one.
    @Test
    void abortBesideABlockedSendIsAResetToo() throws Exception {
        for (int i = 0; i < 20; i++) {
            try (PosixSocket server = PosixSocket.listen(0);
                    PosixSocket client = PosixSocket.connect(server.port());
                    PosixSocket peer = server.accept()) {
                client.setSendBuffer(1);
                CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
                    PosixException failed =
                            assertThrows(PosixException.class, () -> client.moveAndSend(sealed(16 * MIB)));
                    assertTrue(failed.number() > 0);
                });
                assertTrue(peer.awaitReadable(60_000));
                client.abort();
                sent.get(60, TimeUnit.SECONDS);
                fails(Errno.ECONNRESET, () -> {
                    while (peer.receive(arena.allocate(4096)) > 0) {}
                });
            }
        }
    }

    @Test
    void refusedWhereNoSocketListens() throws PosixException {
        int port;
        Path path = directory.resolve("gone");
        try (PosixSocket tcp = PosixSocket.listen(0);
                PosixSocket unix = PosixSocket.listen(path)) {
            port = tcp.port();
            assertTrue(unix.isOpen());
        }
        assertEquals(
                "connect: Connection refused: errno=111 host=127.0.0.1 port=" + port,
                fails(Errno.ECONNREFUSED, () -> PosixSocket.connect(port)).getMessage());
        assertEquals(
                "connect: Connection refused: errno=111 path=" + path,
                fails(Errno.ECONNREFUSED, () -> PosixSocket.connect(path)).getMessage());
        assertEquals(
                2,
                assertThrows(PosixException.class, () -> PosixSocket.connect(directory.resolve("never")))
                        .number());
    }

    @Test
    void takenAddress() throws PosixException {
        Path path = directory.resolve("taken");
        try (PosixSocket tcp = PosixSocket.listen(0);
                PosixSocket unix = PosixSocket.listen(path)) {
            int port = tcp.port();
            assertEquals(
                    "bind: Address already in use: errno=98 host=127.0.0.1 port=" + port,
                    fails(Errno.EADDRINUSE, () -> PosixSocket.listen(port)).getMessage());
            fails(Errno.EADDRINUSE, () -> PosixSocket.listen(path));
            assertTrue(unix.isOpen());
        }
    }

    /// Opens pairs until there are no more descriptors, then closes one and goes on.
    static final class OpensAll {

        private OpensAll() {}

        public static void main(String[] args) throws PosixException {
            // a class that is loaded later needs a descriptor, too
            CallFailure.of("warm", 32, "").errno();
            CallFailure.of("warm", 24, "").errno();
            List<PosixSocket> open = new ArrayList<>(List.of(PosixSocket.unixPair()));
            PosixSocket server = PosixSocket.listen(0);
            try {
                while (true) {
                    open.addAll(List.of(PosixSocket.unixPair()));
                }
            } catch (PosixException full) {
                System.out.println(full.getMessage());
            }
            try {
                while (true) {
                    open.add(PosixSocket.connect(server.port()));
                }
            } catch (PosixException full) {
                System.out.println(full.getMessage().replaceAll("port=\\d+", "port=?"));
            }
            open.removeFirst().close();
            PosixSocket client = PosixSocket.connect(server.port());
            try {
                server.accept();
            } catch (PosixException full) {
                System.out.println(full.getMessage().replaceAll("socket=\\d+", "socket=?"));
            }
            client.close();
            server.accept().close();
            System.out.println("goes on");
        }
    }

    @Test
    void noMoreDescriptors() throws Exception {
        Fork fork =
                Fork.run("ulimit -n 64", List.of("--enable-native-access=io.bulla.posix"), Fork.module(OpensAll.class));
        assertEquals("""
            socketpair: Too many open files: errno=24 limit=64
            socket: Too many open files: errno=24 host=127.0.0.1 port=? limit=64
            accept4: Too many open files: errno=24 socket=? limit=64
            goes on
            """, fork.output());
    }

    @Test
    void everyCallOnAClosedSocketBySeveralThreads() throws Exception {
        PosixSocket[] pair = PosixSocket.unixPair();
        pair[0].close();
        pair[0].close();
        pair[0].abort();
        NativeIoVecCursor[] cursors = {cursor(1), cursor(1)};
        MemorySegment target = arena.allocate(1);
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (NativeIoVecCursor cursor : cursors) {
            threads.add(CompletableFuture.runAsync(() -> {
                for (int i = 0; i < 1000; i++) {
                    for (Executable call : List.<Executable>of(
                            () -> pair[0].writev(cursor),
                            () -> pair[0].sendmsg(cursor),
                            () -> pair[0].sendmmsg(cursor),
                            () -> pair[0].moveAndSend(sealed(1)),
                            () -> pair[0].receive(target),
                            () -> pair[0].accept(),
                            () -> pair[0].port(),
                            () -> pair[0].awaitWritable(-1),
                            () -> pair[0].setBlocking(false),
                            () -> pair[0].setSendBuffer(1))) {
                        assertTrue(fails(Errno.EBADF, call).getMessage().endsWith("errno=9 socket=closed"));
                    }
                }
            }));
        }
        for (CompletableFuture<Void> thread : threads) {
            thread.get(20, TimeUnit.SECONDS);
        }
        assertEquals(0, cursors[0].position() + cursors[1].position());
        assertFalse(pair[0].isOpen());
        assertTrue(pair[0].toString().endsWith(" closed]"));
        assertEquals(-1, pair[1].receive(target));
        pair[1].close();
    }

    /// Starts a call that blocks, closes its socket beside it, and gives what the call ended with.
    private static Throwable endsWith(PosixSocket socket, Blocking call) throws Exception {
        CompletableFuture<Thread> caller = new CompletableFuture<>();
        CompletableFuture<Void> inside = new CompletableFuture<>();
        SyscallInterceptor.watch((name, arguments) -> {
            if (caller.getNow(null) == Thread.currentThread()) {
                inside.complete(null);
            }
            return 0;
        });
        CompletableFuture<Void> done = CompletableFuture.runAsync(() -> {
            caller.complete(Thread.currentThread());
            try {
                call.run();
            } catch (PosixException e) {
                throw new IllegalStateException(e);
            }
        });
        // it is past the check of its socket: closed from now on, it ends as it would in the kernel, where it soon is
        try {
            inside.get(60, TimeUnit.SECONDS);
        } finally {
            SyscallInterceptor.watch(null);
        }
        Thread.sleep(60);
        assertFalse(done.isDone());
        socket.close();
        try {
            done.get(60, TimeUnit.SECONDS);
            return null;
        } catch (ExecutionException failed) {
            return failed.getCause().getCause();
        }
    }

    @Test
    void closeWakesAccept() throws Exception {
        PosixSocket tcp = PosixSocket.listen(0);
        assertInstanceOf(PosixException.class, endsWith(tcp, tcp::accept));
        PosixSocket unix = PosixSocket.listen(directory.resolve("s"));
        assertInstanceOf(PosixException.class, endsWith(unix, unix::accept));
    }

    @Test
    void closeWakesReceiveAndWaits() throws Exception {
        for (int way = 0; way < 2; way++) {
            int each = way;
            try (PosixSocket server = PosixSocket.listen(0);
                    PosixSocket client = PosixSocket.connect(server.port());
                    PosixSocket peer = server.accept()) {
                assertTrue(peer.isOpen());
                wakes(client, each);
            }
            PosixSocket[] pair = PosixSocket.unixPair();
            wakes(pair[0], each);
            pair[1].close();
        }
    }

    private void wakes(PosixSocket socket, int way) throws Exception {
        assertEquals(null, endsWith(socket, () -> {
            if (way == 0) {
                assertEquals(-1, socket.receive(arena.allocate(1)));
            } else {
                assertTrue(socket.awaitReadable(-1));
            }
        }));
    }

    @Test
    void closeWakesEverySend() throws Exception {
        for (int way = 0; way < 5; way++) {
            int each = way;
            PosixSocket[] pair = PosixSocket.unixPair();
            NativeIoVecCursor cursor = cursor(2 * MIB);
            SealedBuffer buffer = sealed(2 * MIB);
            SealedBuffer share = buffer.share();
            if (each == 4) {
                pair[0].setBlocking(false);
                while (pair[0].sendmsg(cursor) > 0) {}
            }
            Throwable ended = endsWith(pair[0], () -> {
                switch (each) {
                    case 0 -> pair[0].moveAndSend(share);
                    case 1 -> untilGone(() -> pair[0].writev(cursor), cursor);
                    case 2 -> untilGone(() -> pair[0].sendmsg(cursor), cursor);
                    case 3 -> untilGone(() -> pair[0].sendmmsg(cursor), cursor);
                    default -> assertTrue(pair[0].awaitWritable(-1));
                }
            });
            if (each < 4) {
                assertInstanceOf(PosixException.class, ended, () -> "way=" + each);
            } else {
                assertEquals(null, ended);
            }
            assertTrue(cursor.remaining() > 0);
            assertEquals(each != 0, share.isOpen());
            share.close();
            buffer.close();
            pair[1].close();
        }
    }

    /// A call that was woken tells the bytes that were taken; the next one tells the error.
    private static void untilGone(Blocking send, NativeIoVecCursor cursor) throws PosixException {
        while (cursor.remaining() > 0) {
            send.run();
        }
    }
}
