// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool.device;

import io.bulla.pool.Slab;
import org.jspecify.annotations.Nullable;

/// A device that reads and writes memory by itself: a ring of the kernel's, or a domain of a fabric.
///
/// ```
/// no mark --register--> marked --retire--> no new access --memoryIsFree--> no mark
/// ```
///
/// Called by any thread, under no lock of the caller's. It patches no function of another library, takes no
/// signal handler, and is closed by an exec of the process.
public interface Registrar extends AutoCloseable {

    /// The capabilities of the device.
    ///
    /// @return the same each time
    DeviceCapabilities capabilities();

    /// Makes the device know memory.
    ///
    /// @param slab held by the caller until the mark is gone
    /// @param offset in the slab, in bytes
    /// @param length in bytes, at least 1
    /// @param access who uses it
    /// @param peer who gets the key, or `null` for [Access#LOCAL]
    /// @param wantedKey the mark's key, unless the device chooses keys
    /// @return a mark that was not there before
    /// @throws RegistrationRefusedException if the device makes no mark now; it knows nothing of the memory then.
    ///     With anything else that is thrown the memory counts as marked until the device has ended
    MemoryRegistration register(Slab slab, long offset, long length, Access access, @Nullable Peer peer, long wantedKey)
            throws RegistrationRefusedException;

    /// Stops new access at once, and what is under way as soon as the device can. Called once for a mark, after
    /// the last operation of this process on it.
    ///
    /// @param mark of this registrar
    /// @param reason what may be under way
    /// @param memoryIsFree to be run once, by any thread, when the device can no longer touch the memory, and
    ///     not before; within this call if that is so already. Never, if the device cannot know
    void retire(MemoryRegistration mark, RetireReason reason, Runnable memoryIsFree);

    /// Ends the device: when this returns it touches no memory of any mark, retired or not. Again is harmless.
    ///
    /// @throws IllegalStateException if it cannot be ended: no memory is free then
    @Override
    void close();
}
