// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A message to a peer. It is done when the fabric has let go of the buffer, which is held until then; whether the
/// peer has it is not said.
public final class FabricSend extends FabricOperation {

    private final Gather bytes;
    private final long peer;

    /// @param bytes of one piece
    FabricSend(Origin from, long peer, Gather bytes) {
        super(from, "fi_send", 1);
        this.bytes = bytes;
        this.peer = peer;
    }

    @Override
    long begin(Arena own, int piece, long id) throws FabricException {
        MemorySegment message = own.allocate(48, 8);
        bytes.fill(own, message, piece);
        message.set(JAVA_LONG, 24, peer);
        message.set(JAVA_LONG, 32, id);
        return FabricCalls.send(from().address, message, Libfabric.COMPLETION);
    }

    @Override
    void over(long counted) {
        bytes.letGo();
    }

    @Override
    String what() {
        return "bytes=" + bytes.byteSize();
    }
}
