// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.fanout;

import io.bulla.iovec.IoVec;
import io.bulla.iovec.NativeIoVec;
import io.bulla.iovec.NativeIoVecCursor;
import io.bulla.posix.socket.PosixSocket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.function.ObjIntConsumer;

/// Pairs of unix sockets whose other ends are emptied by the sending thread, window by window, into memory that
/// stays in the cache: what the receivers cost is in every number.
public final class UnixPeers implements AutoCloseable {

    private static final int RECEIVE_BYTES = 1 << 18;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment target = arena.allocate(RECEIVE_BYTES);
    private final ByteBuffer view = target.asByteBuffer();
    private final PosixSocket[] senders;
    private final PosixSocket[] receivers;
    private final MemorySegment[] entries;
    private ObjIntConsumer<ByteBuffer> watched = (_, _) -> {};

    private UnixPeers(int count) {
        senders = new PosixSocket[count];
        receivers = new PosixSocket[count];
        entries = new MemorySegment[count];
    }

    /// So many pairs.
    public static UnixPeers connect(int count) throws IOException {
        UnixPeers peers = new UnixPeers(count);
        for (int i = 0; i < count; i++) {
            PosixSocket[] pair = PosixSocket.unixPair();
            pair[0].setBlocking(false);
            pair[1].setBlocking(false);
            peers.senders[i] = pair[0];
            peers.receivers[i] = pair[1];
            peers.entries[i] = peers.arena.allocate(2 * NativeIoVec.ENTRY_BYTES, 8);
        }
        return peers;
    }

    /// Shows what arrives to a listener, with the number of the peer.
    void watch(ObjIntConsumer<ByteBuffer> each) {
        watched = each;
    }

    /// A cursor for one send after another of the same memory.
    public NativeIoVecCursor cursorOf(IoVec bytes) {
        return NativeIoVecCursor.of(NativeIoVec.of(bytes, arena), arena, bytes.regionCount());
    }

    /// A cursor for one send of a copy, in memory of the peer's that the next one overwrites.
    public NativeIoVecCursor cursorOf(int peer, MemorySegment copy) {
        MemorySegment own = entries[peer];
        NativeIoVec image = NativeIoVec.of(IoVec.of(copy), (bytes, _) -> own.asSlice(0, bytes));
        return NativeIoVecCursor.of(image, (bytes, _) -> own.asSlice(NativeIoVec.ENTRY_BYTES, bytes), 1);
    }

    /// Sends what is left, until the peer has all of it.
    public void drive(int peer, NativeIoVecCursor cursor) throws IOException {
        while (cursor.remaining() > 0) {
            for (long left = senders[peer].sendmsg(cursor); left > 0; ) {
                long taken = receivers[peer].receive(target);
                watched.accept(view.limit((int) taken), peer);
                left -= taken;
            }
        }
    }

    @Override
    public void close() {
        for (int i = 0; i < senders.length; i++) {
            senders[i].close();
            receivers[i].close();
        }
        arena.close();
    }
}
