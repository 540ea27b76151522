// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.fanout;

import com.google.protobuf.ByteString;
import io.bulla.posix.socket.PosixSocket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/// Fan-out of bytes on the heap over unix sockets, through channels of the JDK, as programs do that know no
/// native memory.
///
/// `heap` clones an array for each peer. `byte-string` makes protobuf's immutable value anew for each peer, as
/// code does that is given an array; `byte-string-shared` makes one for all, which is that class as it is meant.
/// Each write is copied once more, by the JDK, into native memory of its own, so writes are of 128 KiB at most:
/// the JDK would copy all that is left, for a socket that takes less.
final class NioFanOut implements FanOut {

    private static final int WRITE_BYTES = 1 << 17;
    private static final int RECEIVE_BYTES = 1 << 18;

    private interface Copies {
        ByteBuffer next();
    }

    private final Arena arena = Arena.ofShared();
    private final MemorySegment target = arena.allocate(RECEIVE_BYTES);
    private final ByteBuffer view = target.asByteBuffer();
    private final SocketChannel[] senders;
    private final PosixSocket[] receivers;
    private final ByteBuffer[] queued;
    private final Arrivals arrivals;
    private final Copies copies;

    NioFanOut(String design, Message message, int peers) throws IOException {
        byte[] bytes = message.bytes();
        ByteString shared = ByteString.copyFrom(bytes);
        copies = switch (design) {
            case "heap" -> () -> ByteBuffer.wrap(bytes.clone());
            case "byte-string" -> () -> ByteString.copyFrom(bytes).asReadOnlyByteBuffer();
            case "byte-string-shared" -> shared::asReadOnlyByteBuffer;
            default -> throw new IllegalArgumentException("no such design: " + design);
        };
        senders = new SocketChannel[peers];
        receivers = new PosixSocket[peers];
        queued = new ByteBuffer[peers];
        arrivals = new Arrivals(message, peers);
        connect();
    }

    private void connect() throws IOException {
        Path folder = Files.createTempDirectory("bulla");
        Path path = folder.resolve("s");
        try (PosixSocket server = PosixSocket.listen(path)) {
            for (int i = 0; i < senders.length; i++) {
                senders[i] = SocketChannel.open(UnixDomainSocketAddress.of(path));
                senders[i].configureBlocking(false);
                receivers[i] = server.accept();
                receivers[i].setBlocking(false);
            }
        } finally {
            Files.delete(path);
            Files.delete(folder);
        }
    }

    @Override
    public void run(int times) throws IOException {
        for (int i = 0; i < times; i++) {
            for (int peer = 0; peer < senders.length; peer++) {
                queued[peer] = copies.next();
            }
            for (int peer = 0; peer < senders.length; peer++) {
                drive(peer, queued[peer]);
                queued[peer] = null;
            }
        }
    }

    private void drive(int peer, ByteBuffer bytes) throws IOException {
        int end = bytes.limit();
        while (bytes.position() < end) {
            bytes.limit(Math.min(end, bytes.position() + WRITE_BYTES));
            for (long left = senders[peer].write(bytes); left > 0; ) {
                long taken = receivers[peer].receive(target);
                arrivals.took(peer, view.limit((int) taken));
                left -= taken;
            }
        }
    }

    @Override
    public void compare(boolean yes) {
        arrivals.compare(yes);
    }

    @Override
    public void close() throws IOException {
        for (int i = 0; i < senders.length; i++) {
            senders[i].close();
            receivers[i].close();
        }
        arena.close();
    }
}
