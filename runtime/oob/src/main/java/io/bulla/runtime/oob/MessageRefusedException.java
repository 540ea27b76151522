// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.io.IOException;

/// The receiver does not take this message: it is over its limit, or there is no memory for it. The peer lives, and
/// what was sent behind the message goes on.
public final class MessageRefusedException extends IOException {

    private static final long serialVersionUID = 1;

    private final int peer;

    MessageRefusedException(int peer, int tag, long bytes, String why) {
        super("peer " + peer + " refuses a message: " + why + " tag=" + tag + " bytes=" + bytes);
        this.peer = peer;
    }

    /// Which peer.
    ///
    /// @return its rank
    public int peer() {
        return peer;
    }
}
