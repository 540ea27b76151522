// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix.lending;

import io.bulla.interop.posix.internal.calls.Descriptor;
import io.bulla.interop.posix.internal.stream.StreamSocket;
import io.bulla.refcount.RefCount;

/// Keeps the string, and the socket on which leases go back, as long as this process may have a mapping.
/// Its holders are the borrower and every mapping.
final class Tether extends RefCount {

    private final StreamSocket socket;
    private final Descriptor string;

    Tether(StreamSocket socket, Descriptor string) {
        super(null);
        this.socket = socket;
        this.string = string;
    }

    /// @return false if the borrower and every mapping are gone
    boolean enter() {
        return retain(1);
    }

    void leave() {
        release();
    }

    @Override
    protected void free() {
        // the connection says nothing that the string does not
        string.close();
        socket.close();
    }
}
