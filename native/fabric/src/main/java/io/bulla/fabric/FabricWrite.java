// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A write into a peer's memory.
public final class FabricWrite extends FabricOperation {

    private static final long DELIVERY_COMPLETE = 1L << 28;

    private final Gather bytes;
    private final long peer;
    private final long key;
    private final long target;
    private final boolean tells;
    private final long number;

    /// @param tells whether the peer is told the key when all is in its memory; of one piece then
    FabricWrite(Origin from, long peer, long key, long target, Gather bytes, boolean tells) {
        this(from, peer, key, target, bytes, tells, key);
    }

    /// @param number that the peer is told
    FabricWrite(Origin from, long peer, long key, long target, Gather bytes, boolean tells, long number) {
        super(from, "fi_write", bytes.pieces());
        this.bytes = bytes;
        this.peer = peer;
        this.key = key;
        this.target = target;
        this.tells = tells;
        this.number = number;
    }

    boolean tells() {
        return tells;
    }

    @Override
    long begin(Arena own, int piece, long id) throws FabricException {
        MemorySegment remote = own.allocate(24, 8);
        remote.set(JAVA_LONG, 0, target + bytes.offset(piece));
        remote.set(JAVA_LONG, 8, bytes.byteSize(piece));
        remote.set(JAVA_LONG, 16, key);
        MemorySegment message = own.allocate(64, 8);
        bytes.fill(own, message, piece);
        message.set(JAVA_LONG, 24, peer);
        message.set(JAVA_LONG, 32, remote.address());
        message.set(JAVA_LONG, 40, 1);
        message.set(JAVA_LONG, 48, id);
        message.set(JAVA_LONG, 56, number);
        long tell = tells ? Libfabric.REMOTE_DATA : 0;
        return FabricCalls.write(from().address, message, Libfabric.COMPLETION | DELIVERY_COMPLETE | tell);
    }

    @Override
    void over(long counted) {
        bytes.letGo();
    }

    @Override
    String what() {
        return "bytes=" + bytes.byteSize() + " key=" + Long.toHexString(key);
    }
}
