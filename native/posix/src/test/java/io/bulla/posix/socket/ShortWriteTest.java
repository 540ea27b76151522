// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.iovec.IoVec;
import io.bulla.iovec.IoVecCursor;
import io.bulla.iovec.NativeIoVec;
import io.bulla.iovec.NativeIoVecCursor;
import io.bulla.posix.fixtures.NothingStays;
import io.bulla.posix.fixtures.Pieces;
import io.bulla.posix.fixtures.SendFixture;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// A kernel that takes a part, at every byte of a small message, in every form of a send.
///
/// A socket with the smallest send buffer takes the same number of bytes every time. Filler before the message
/// makes that number end where the test wants it:
///
/// ```
/// | header 5 | filler, shorter each time | 1 | 0 | 7 | 3 | 16 | 2 |
/// |<------------- what the kernel takes at once ------>|  cut, one byte further each time
/// ```
@ExtendWith(NothingStays.class)
class ShortWriteTest {

    private static final int[] MESSAGE = {1, 0, 7, 3, 16, 2};
    private static final int MESSAGE_BYTES = Arrays.stream(MESSAGE).sum();
    private static final int CUTS = MESSAGE_BYTES + 1;
    private static final int HEADER = 5;
    private static final int PEER_READS = 997;

    /// One send, a step at a time.
    private interface Send {
        long step() throws IOException;

        void rewind();

        long remaining();
    }

    @TempDir
    private static Path directory;

    /// The first channel of its kind opens a descriptor for good.
    @BeforeAll
    static void warmUp() throws IOException {
        channelAndPeer("warm", (_, _) -> {});
    }

    private interface Connected<S> {
        void run(S sender, PosixSocket peer) throws IOException;
    }

    @FunctionalInterface
    private interface Start {
        /// A send of all of `header`, then `body`, which lies in `memory`.
        Send of(MemorySegment header, IoVec body, Arena memory);
    }

    private static void pair(Connected<PosixSocket> test) throws IOException {
        PosixSocket[] pair = PosixSocket.unixPair();
        try (PosixSocket sender = pair[0];
                PosixSocket peer = pair[1]) {
            sender.setSendBuffer(1);
            sender.setBlocking(false);
            test.run(sender, peer);
        }
    }

    private static void channelAndPeer(String name, Connected<SocketChannel> test) throws IOException {
        Path path = directory.resolve(name);
        try (PosixSocket server = PosixSocket.listen(path);
                SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
                PosixSocket peer = server.accept()) {
            channel.setOption(StandardSocketOptions.SO_SNDBUF, 1);
            channel.configureBlocking(false);
            test.run(channel, peer);
        } finally {
            Files.delete(path);
        }
    }

    private record Native(NativeIoVecCursor cursor, Step how) implements Send {

        interface Step {
            long take(NativeIoVecCursor cursor) throws IOException;
        }

        @Override
        public long step() throws IOException {
            return how.take(cursor);
        }

        @Override
        public void rewind() {
            cursor.rewind();
        }

        @Override
        public long remaining() {
            return cursor.remaining();
        }
    }

    private record Nio(IoVecCursor cursor, SocketChannel channel) implements Send {

        @Override
        public long step() throws IOException {
            long took = channel.write(cursor.window(16, Long.MAX_VALUE));
            cursor.advance(took);
            return took;
        }

        @Override
        public void rewind() {
            cursor.rewind();
        }

        @Override
        public long remaining() {
            return cursor.remaining();
        }
    }

    private static Start gathered(Native.Step step, int scratchEntries) {
        return (header, body, memory) -> new Native(
                NativeIoVecCursor.withHeader(header, NativeIoVec.of(body, memory), memory, scratchEntries), step);
    }

    private static Start image(Native.Step step) {
        return (header, body, memory) -> new Native(
                NativeIoVecCursor.of(
                        NativeIoVec.of(IoVec.concat(IoVec.of(header), body), memory), memory, MESSAGE.length + 2),
                step);
    }

    @Test
    void writevOfHeaderAndBody() throws IOException {
        pair((sender, peer) -> assertEquals(CUTS, everyCut(gathered(sender::writev, 9), peer)));
    }

    @Test
    void sendmsgOfHeaderAndBodyAlsoWithLittleScratch() throws IOException {
        pair((sender, peer) -> {
            // each window ends with the filler at the latest
            assertEquals(1, everyCut(gathered(sender::sendmsg, 2), peer));
            assertEquals(CUTS, everyCut(gathered(sender::sendmsg, 9), peer));
        });
    }

    @Test
    void writevOfTheImageAlone() throws IOException {
        pair((sender, peer) -> assertEquals(CUTS, everyCut(image(sender::writev), peer)));
    }

    @Test
    void sendmmsg() throws IOException {
        pair((sender, peer) -> {
            Native.Step step = cursor -> {
                long before = cursor.position();
                sender.sendmmsg(cursor);
                return cursor.position() - before;
            };
            assertEquals(CUTS, everyCut(gathered(step, 9), peer));
        });
    }

    @Test
    void channelWithFreshViews() throws IOException {
        channelAndPeer(
                "nio",
                (channel, peer) -> everyCut(
                        (header, body, _) -> new Nio(IoVecCursor.of(IoVec.concat(IoVec.of(header), body)), channel),
                        peer));
    }

    /// @return how many different cuts the kernel made
    private static int everyCut(Start start, PosixSocket peer) throws IOException {
        peer.setBlocking(false);
        int most = atOnce(start, peer);
        assertTrue(most > HEADER + MESSAGE_BYTES, () -> "the kernel took next to nothing: bytes=" + most);
        BitSet cuts = new BitSet();
        for (int cut = 0; cut <= MESSAGE_BYTES; cut++) {
            int filler = most - HEADER - cut;
            byte[] bytes = Pieces.random(HEADER + filler + MESSAGE_BYTES);
            try (Arena arena = Arena.ofConfined()) {
                Send send = start(start, bytes, filler, arena);
                for (int round = 0; round < 2; round++) {
                    long took = send.step();
                    cuts.set((int) took - HEADER - filler);
                    assertArrayEquals(bytes, drive(send, bytes.length, peer), "cut=" + cut + " round=" + round);
                    // a send that starts anew
                    send.rewind();
                }
            }
        }
        return cuts.cardinality();
    }

    private static Send start(Start start, byte[] bytes, int filler, Arena arena) {
        int[] lengths = new int[MESSAGE.length + 2];
        lengths[0] = HEADER;
        lengths[1] = filler;
        System.arraycopy(MESSAGE, 0, lengths, 2, MESSAGE.length);
        IoVec all = Pieces.of(arena, bytes, lengths);
        return start.of(all.region(0), all.slice(HEADER, all.byteSize() - HEADER), arena);
    }

    /// With scratch for few entries a step shows the kernel less than it would take.
    private static int atOnce(Start start, PosixSocket peer) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            Send send = start(start, Pieces.random(1 << 20), (1 << 20) - HEADER - MESSAGE_BYTES, arena);
            int took = (int) send.step();
            receive(peer, took);
            return took;
        }
    }

    private static byte[] drive(Send send, int size, PosixSocket peer) throws IOException {
        byte[] got = new byte[size];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(PEER_READS);
            for (int done = 0; done < size; ) {
                int read = (int) peer.receive(target);
                MemorySegment.copy(target, JAVA_BYTE, 0, got, done, read);
                done += read;
                if (send.remaining() > 0) {
                    send.step();
                }
            }
        }
        assertEquals(0, send.remaining());
        return got;
    }

    private static void receive(PosixSocket peer, int size) throws IOException {
        peer.setBlocking(true);
        assertEquals(size, SendFixture.receive(peer, size).length);
        peer.setBlocking(false);
    }
}
