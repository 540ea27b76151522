// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool.device;

/// Who reads or writes the memory through a mark.
public enum Access {
    /// The device, for operations of this process. No peer gets a key.
    LOCAL,
    /// A peer that has the key writes.
    REMOTE_WRITE
}
