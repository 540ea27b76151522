// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.iovec.NativeIoVec;
import io.bulla.iovec.NativeIoVecCursor;
import io.bulla.posix.PosixException;
import io.bulla.posix.fixtures.NothingStays;
import io.bulla.posix.fixtures.Pieces;
import io.bulla.refcount.LeaseTally;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Two sealed messages, shared by many threads that all send them at once to peers of every temper.
///
/// Each thread has a peer of its own. A send takes a handle, makes a cursor over the one image, with a header
/// of its own before it, and waits for the peer's answer, a byte that says that all was there:
///
/// ```
/// | message 8 | number 8 | body, 313 bytes or 1 MiB |     a peer that dies closes anywhere in it
/// ```
///
/// `./check chaos` makes ten times as many sends, by `-Dbulla.sends`; `-Dbulla.seed` is the seed of what the peers
/// choose, which is printed.
@ExtendWith(NothingStays.class)
class ManyPeersTest {

    private static final int SENDS = Integer.getInteger("bulla.sends", 100_000);
    private static final long SEED = Long.getLong("bulla.seed", System.nanoTime());
    private static final int LARGE_EVERY = 250;
    private static final long HEADER = 16;
    private static final int ROUNDS_OF_PEERS = 2;

    private enum Temper {
        FAST,
        SLOW,
        /// Closes in the middle of every other message, which is then given up.
        DYING,
        /// Closes in the middle of every other message, which is then sent anew.
        RECONNECTING
    }

    private final LeaseTally handles = new LeaseTally();
    private final MemoryBudget budget = MemoryBudget.unlimited();
    private final LongAdder sends = new LongAdder();
    private final LongAdder given = new LongAdder();
    private final LongAdder completed = new LongAdder();
    private final LongAdder verified = new LongAdder();
    private final LongAdder anew = new LongAdder();

    /// A sealed message and what is shared of it.
    private record Message(SealedBuffer buffer, NativeIoVec image, long digest) {

        static Message of(ArenaSource source, Arena arena, int... lengths) {
            SealedBuffer[] parts = new SealedBuffer[lengths.length];
            for (int i = 0; i < lengths.length; i++) {
                parts[i] = BufferBuilder.create(source)
                        .put(Pieces.random(lengths[i]))
                        .seal();
            }
            SealedBuffer whole = SealedBuffer.concat(parts);
            for (SealedBuffer part : parts) {
                part.close();
            }
            CRC32C digest = new CRC32C();
            for (ByteBuffer view : whole.iovec().asByteBuffers()) {
                digest.update(view);
            }
            return new Message(whole, NativeIoVec.of(whole.iovec(), arena), digest.getValue());
        }
    }

    /// The other end: takes connections as they come, and messages off them.
    private final class Peer {

        private static final int CHUNK = 1 << 16;

        private final BlockingQueue<PosixSocket> connections = new ArrayBlockingQueue<>(1);
        private final Temper temper;
        private final Message[] messages;
        private final Random random;
        private final MemorySegment chunk;
        private final ByteBuffer view;
        private final NativeIoVecCursor answer;

        Peer(Temper temper, Message[] messages, long seed, Arena arena) {
            this.temper = temper;
            this.messages = messages;
            this.random = new Random(seed);
            this.chunk = arena.allocate(CHUNK, 8);
            this.view = chunk.asByteBuffer();
            this.answer = NativeIoVecCursor.of(NativeIoVec.of(IoVec.of(arena.allocate(1)), arena), arena, 1);
        }

        void run() {
            try {
                boolean more = true;
                while (more) {
                    try (PosixSocket socket = connections.take()) {
                        more = serve(socket);
                    }
                }
            } catch (PosixException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        /// @return false if the sender has ended
        private boolean serve(PosixSocket socket) throws PosixException {
            while (true) {
                if (!fill(socket, HEADER)) {
                    return false;
                }
                Message message = messages[(int) chunk.get(JAVA_LONG, 0)];
                long number = chunk.get(JAVA_LONG, 8);
                long size = message.image().iovec().byteSize();
                boolean dies = temper.compareTo(Temper.DYING) >= 0 && random.nextBoolean();
                long digest = read(socket, dies ? random.nextLong(size) : size);
                if (dies) {
                    return true;
                }
                assertEquals(message.digest(), digest, () -> temper + " number=" + number);
                verified.increment();
                answer.rewind();
                socket.writev(answer);
            }
        }

        private boolean fill(PosixSocket socket, long bytes) throws PosixException {
            for (long done = 0; done < bytes; ) {
                long read = socket.receive(chunk.asSlice(done, bytes - done));
                if (read < 0) {
                    assertEquals(0, done);
                    return false;
                }
                done += read;
            }
            return true;
        }

        private long read(PosixSocket socket, long bytes) throws PosixException {
            long most = temper == Temper.SLOW ? bytes / 40 + 97 : CHUNK;
            CRC32C digest = new CRC32C();
            for (long done = 0; done < bytes; ) {
                if (temper == Temper.SLOW) {
                    Thread.yield();
                }
                int read = (int) socket.receive(chunk.asSlice(0, Math.min(most, bytes - done)));
                assertTrue(read > 0, "the sender ended in the middle of a message");
                digest.update(view.clear().limit(read));
                done += read;
            }
            return digest.getValue();
        }
    }

    /// One thread's sends, one after the other.
    private final class Sender {

        private final Peer peer;
        private final MemorySegment header;
        private final MemorySegment answer;
        private PosixSocket socket;

        Sender(Peer peer, Arena arena) {
            this.peer = peer;
            this.header = arena.allocate(HEADER, 8);
            this.answer = arena.allocate(1);
        }

        void run(int count) {
            try {
                connect();
                for (int i = 0; i < count; i++) {
                    int which = i % LARGE_EVERY == LARGE_EVERY - 1 ? 1 : 0;
                    header.set(JAVA_LONG, 0, which);
                    header.set(JAVA_LONG, 8, i);
                    sends.increment();
                    send(i, peer.messages[which]);
                }
            } catch (PosixException | InterruptedException e) {
                throw new IllegalStateException(e);
            } finally {
                socket.close();
            }
        }

        private void connect() throws PosixException, InterruptedException {
            PosixSocket[] pair = PosixSocket.unixPair();
            socket = pair[0];
            if (peer.temper == Temper.SLOW) {
                socket.setSendBuffer(1);
            }
            peer.connections.put(pair[1]);
        }

        private void send(int number, Message message) throws PosixException, InterruptedException {
            try (Arena scratch = Arena.ofConfined();
                    SealedBuffer handle = message.buffer().share()) {
                assertTrue(handle.isOpen());
                NativeIoVecCursor cursor =
                        NativeIoVecCursor.withHeader(header, message.image(), scratch, 1 + number % 9);
                while (!sentWhole(number, message, cursor)) {
                    socket.close();
                    connect();
                    if (peer.temper == Temper.DYING) {
                        given.increment();
                        return;
                    }
                    cursor.rewind();
                    anew.increment();
                }
                completed.increment();
            }
        }

        /// @return false if the peer has closed
        private boolean sentWhole(int number, Message message, NativeIoVecCursor cursor) throws PosixException {
            try {
                if (number % 5 == 4) {
                    socket.setBlocking(true);
                    socket.moveAndSend(ofItsOwn(message));
                } else {
                    drive(number, cursor);
                }
                assertTrue(socket.awaitReadable(20_000), "no answer");
                socket.setBlocking(true);
                return socket.receive(answer) > 0;
            } catch (PosixException.PeerClosed closed) {
                return false;
            }
        }

        private void drive(int number, NativeIoVecCursor cursor) throws PosixException {
            socket.setBlocking(number % 5 == 0);
            while (cursor.remaining() > 0) {
                long before = cursor.position();
                switch (number % 5) {
                    case 0, 1 -> socket.writev(cursor);
                    case 2 -> socket.sendmsg(cursor);
                    default -> socket.sendmmsg(cursor);
                }
                if (cursor.position() == before) {
                    assertTrue(socket.awaitWritable(-1));
                }
            }
        }

        /// The header in a buffer of its own before a share of the body.
        private SealedBuffer ofItsOwn(Message message) {
            try (SealedBuffer first = SealedBuffer.adopt(header, () -> {})) {
                return SealedBuffer.concat(first, message.buffer());
            }
        }
    }

    @Test
    void everyPeerThatCompletesHasIdenticalBytesAndEveryHandleIsBack() throws Exception {
        System.out.println("chaos: sockets seed=" + SEED + " sends=" + SENDS);
        List<Thread> threads = new ArrayList<>();
        List<CompletableFuture<Void>> ended = new ArrayList<>();
        ArenaSource source = ArenaSource.builder().budget(budget).trace(handles).build();
        try (Arena arena = Arena.ofShared()) {
            Message[] messages = {
                Message.of(source, arena, 1, 3, 64, 5, 128, 7, 100, 5),
                Message.of(source, arena, 4095, 4097, 1 << 20, 1)
            };
            int peers = ROUNDS_OF_PEERS * Temper.values().length;
            for (int i = 0; i < peers; i++) {
                Peer peer = new Peer(Temper.values()[i % Temper.values().length], messages, SEED + i, arena);
                Sender sender = new Sender(peer, arena);
                start(threads, ended, peer::run);
                start(threads, ended, () -> sender.run(SENDS / peers));
            }
            // one that fails says so before the others get stuck on it; a busy processor takes minutes for all
            CompletableFuture.anyOf(allOf(ended), firstFailure(ended)).get(15, TimeUnit.MINUTES);
            for (Message message : messages) {
                message.buffer().close();
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("chaos: sockets completed=" + completed + " verified=" + verified + " given-up=" + given
                + " sent-anew=" + anew + " open-handles=" + handles.open());
        assertEquals(SENDS / 8 * 8, sends.sum());
        assertEquals(sends.sum(), completed.sum() + given.sum());
        assertEquals(completed.sum(), verified.sum());
        assertTrue(given.sum() > sends.sum() / 16 && anew.sum() > sends.sum() / 16, () -> given + " " + anew);
        assertEquals(0, handles.open());
        source.close(Duration.ofSeconds(60));
        assertEquals(0, budget.used());
    }

    private static CompletableFuture<Void> allOf(List<CompletableFuture<Void>> each) {
        return CompletableFuture.allOf(each.toArray(CompletableFuture[]::new));
    }

    private static CompletableFuture<Void> firstFailure(List<CompletableFuture<Void>> each) {
        CompletableFuture<Void> failed = new CompletableFuture<>();
        for (CompletableFuture<Void> one : each) {
            one.exceptionally(failure -> {
                failed.completeExceptionally(failure);
                return null;
            });
        }
        return failed;
    }

    private static void start(List<Thread> threads, List<CompletableFuture<Void>> ended, Runnable run) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        ended.add(end);
        threads.add(Thread.ofPlatform().daemon().start(() -> {
            try {
                run.run();
                end.complete(null);
            } catch (Throwable failure) {
                end.completeExceptionally(failure);
            }
        }));
    }
}
