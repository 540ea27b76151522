// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool.device;

/// One operation's claim on a mark, which is not retired before it ends. Belongs to one thread at a time.
public interface MemoryRegistrationUse extends AutoCloseable {

    /// The device's mark of the memory.
    ///
    /// @return the same each time
    MemoryRegistration registration();

    /// The operation is over. Again does nothing.
    @Override
    void close();
}
