// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool.device;

import io.bulla.buffer.SealedBuffer;
import org.jspecify.annotations.Nullable;

/// Finds what a device knows memory by, for an operation of this process: `registrations::use` of
/// `native/registration`.
@FunctionalInterface
public interface MemoryRegistrationLookup {

    /// Begins an operation on registered memory.
    ///
    /// @param buffer open until the operation is over
    /// @param region which of its regions
    /// @return closed by the caller when the operation is over; `null` if the device does not know the memory:
    ///     the caller takes a path that needs no registration
    /// @throws IndexOutOfBoundsException if there is no such region
    /// @throws IllegalStateException if the buffer is closed
    @Nullable
    MemoryRegistrationUse use(SealedBuffer buffer, int region);
}
