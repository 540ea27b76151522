// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool.device;

/// One registration with a device, as the device knows it. Made by its [Registrar], retired once.
public interface Mark {

    /// The key that names the memory in an operation.
    ///
    /// @return with [Traits#choosesKeys()] the device's own, else the one that was wanted
    long key();
}
