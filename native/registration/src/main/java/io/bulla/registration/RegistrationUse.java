// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.MemoryRegistrationUse;

/// One operation's claim on a registration: from before the device is told of the operation until it has said
/// that it is over. The caller holds a handle on the buffer as long. Belongs to one thread at a time.
public final class RegistrationUse implements MemoryRegistrationUse {

    private final Registration registration;
    private boolean ended;

    RegistrationUse(Registration registration) {
        this.registration = registration;
    }

    /// The device's mark of the slab.
    ///
    /// @return the mark of the whole slab
    @Override
    public MemoryRegistration registration() {
        return registration.made();
    }

    /// The key that names the memory in an operation: that of [#registration()].
    ///
    /// @return the same each time
    public long key() {
        return registration.markKey();
    }

    /// Where the marked memory begins.
    ///
    /// @return address of the slab's first byte
    public long address() {
        return registration.slab().address();
    }

    /// The operation is over. Again does nothing.
    @Override
    public void close() {
        if (!ended) {
            ended = true;
            registration.useEnded();
        }
    }

    @Override
    public String toString() {
        return "RegistrationUse[" + registration + (ended ? " ended" : "") + "]";
    }
}
