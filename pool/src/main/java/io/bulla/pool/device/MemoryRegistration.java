// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool.device;

/// One registration of memory with a device, as the device knows it: a *mark*, in short. Made by its [Registrar],
/// retired once.
public interface MemoryRegistration {

    /// The key that names the memory in an operation.
    ///
    /// @return with [DeviceCapabilities#choosesKeys()] the device's own, else the one that was wanted
    long key();
}
