// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.io.IOException;

/// A peer could not be reached, or its connection ended.
public final class PeerFailedException extends IOException {

    private static final long serialVersionUID = 1;

    private final int peer;

    PeerFailedException(int peer, String why) {
        super("peer " + peer + " failed: " + why);
        this.peer = peer;
    }

    /// Which peer.
    ///
    /// @return its rank
    public int peer() {
        return peer;
    }
}
