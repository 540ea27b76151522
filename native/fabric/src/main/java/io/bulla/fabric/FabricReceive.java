// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Memory that waits for a peer's next message.
public final class FabricReceive extends FabricOperation {

    // reachable until it is done
    private final MemorySegment into;
    // under the domain's monitor
    private long byteCount;

    FabricReceive(Origin from, MemorySegment into) {
        super(from, "fi_recv", 1);
        this.into = into;
    }

    /// How long the message is.
    ///
    /// @return bytes; 0 while it is not done
    public long byteCount() {
        synchronized (from().monitor()) {
            return byteCount;
        }
    }

    @Override
    long begin(Arena own, int piece, long id) throws FabricException {
        return FabricCalls.receive(from().address, into.address(), into.byteSize(), id);
    }

    @Override
    void over(long counted) {
        byteCount = counted;
    }

    @Override
    String what() {
        return "room=" + into.byteSize();
    }
}
