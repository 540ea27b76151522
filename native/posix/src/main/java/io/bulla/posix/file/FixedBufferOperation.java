// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.file;

import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.Descriptor;
import org.jspecify.annotations.Nullable;

/// One read or write of a [FixedBufferTable], until the kernel has answered. Belongs to the table's thread.
public final class FixedBufferOperation {

    private final String call;
    // none if it names no registered memory
    final @Nullable FixedBufferSlot slot;
    final Descriptor descriptor;
    /// User data of its request.
    final long number;

    private final Runnable ended;
    private boolean done;
    private int result;

    /// @param ended told once the kernel has answered; does not throw
    FixedBufferOperation(
            String call, @Nullable FixedBufferSlot slot, Descriptor descriptor, Runnable ended, long number) {
        this.number = number;
        this.call = call;
        this.slot = slot;
        this.descriptor = descriptor;
        this.ended = ended;
    }

    /// Tells whether the kernel has answered.
    ///
    /// @return false while it may touch the memory for this
    public boolean isDone() {
        return done;
    }

    /// How many bytes it moved.
    ///
    /// @return 0 for a peer that has closed
    /// @throws PosixException with what the kernel said; `ECANCELED` if it was cancelled
    /// @throws IllegalStateException if it is not done
    public int byteCount() throws PosixException {
        if (!done) {
            throw new IllegalStateException("transfer is not done: " + this);
        }
        if (result < 0) {
            throw CallFailure.of(call, -result, where());
        }
        return result;
    }

    void answered(int with) {
        done = true;
        result = with;
        ended.run();
    }

    private String where() {
        return slot == null ? descriptor.toString() : "slot=" + slot.index;
    }

    @Override
    public String toString() {
        return call + "[" + where() + (done ? " result=" + result : " waits") + "]";
    }
}
