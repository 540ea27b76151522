// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool.device;

/// Why a mark is retired: what may still be under way.
public enum RetireReason {
    /// No operation of this process uses it any more, and no peer had its key.
    IDLE,
    /// The peer has written all that it was to write, and said so; all of it has arrived.
    COMPLETE,
    /// Operations may be under way, of a peer that is dead, or late.
    REVOKED
}
