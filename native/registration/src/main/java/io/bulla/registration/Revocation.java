// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.pool.device.Peer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/// The end of a grant: the memory is free, or in quarantine.
public sealed interface Revocation {

    /// The device can no longer touch the memory for this grant: it is the program's.
    record Clean() implements Revocation {}

    /// New access is over, but the device has not stopped yet. The memory stays out of use, and booked, until it
    /// has.
    ///
    /// @param peer that may still write
    /// @param key it has
    /// @param bytes of the grant
    /// @param waited for the device
    /// @param why the device has not stopped, as far as it said so
    /// @param fence completed when the device has stopped, by a thread of the device's
    record Quarantined(Peer peer, long key, long bytes, Duration waited, String why, CompletableFuture<Void> fence)
            implements Revocation {}
}
