// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

/// One read or write of a [FixedTable], until the kernel has answered.
public final class FixedTransfer {

    private final String call;
    final FixedTable.Slot slot;
    final PosixSocket socket;
    private boolean done;
    private int result;

    FixedTransfer(String call, FixedTable.Slot slot, PosixSocket socket) {
        this.call = call;
        this.slot = slot;
        this.socket = socket;
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
            throw PosixException.of(call, -result, "slot=" + slot.index());
        }
        return result;
    }

    void answered(int with) {
        done = true;
        result = with;
    }

    @Override
    public String toString() {
        return call + "[slot=" + slot.index() + (done ? " result=" + result : " waits") + "]";
    }
}
