// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool.device;

/// What a device needs until it has stopped touching memory that operations may be under way in.
public enum Fence {
    /// The device waits for each operation, or cancels it, and then says so: a table of io_uring's. A promise.
    COMPLETION,
    /// What one peer has under way ends with the endpoint that serves this peer: libfabric over sockets. Peers
    /// that share an endpoint share its end. A promise.
    ENDPOINT,
    /// Nothing is under way between two steps of progress that this process makes: libfabric over shared
    /// memory. So it was seen to be; it is no promise.
    STEP,
    /// Nothing but the end of the device itself. What was revoked stays in quarantine until then.
    NONE;

    /// Tells whether the device promises it, or it was only seen.
    ///
    /// @return false for [#STEP] and [#NONE]
    public boolean isPromised() {
        return this == COMPLETION || this == ENDPOINT;
    }
}
