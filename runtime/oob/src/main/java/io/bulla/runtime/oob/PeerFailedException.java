// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// A peer could not be reached, or its connection ended.
public final class PeerFailedException extends IOException {

    private static final long serialVersionUID = 1;

    private final int peer;

    PeerFailedException(int peer, String why, @Nullable Throwable cause) {
        super("peer " + peer + " failed: " + why, cause);
        this.peer = peer;
    }

    static PeerFailedException of(int peer, Throwable cause) {
        if (cause instanceof PeerFailedException same && same.peer == peer) {
            return same;
        }
        String why = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        return new PeerFailedException(peer, why, cause);
    }

    /// Which peer.
    ///
    /// @return its rank
    public int peer() {
        return peer;
    }
}
