// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import java.io.IOException;

/// A connection is over because nothing was heard of the peer.
public final class SilentPeerException extends IOException {

    private static final long serialVersionUID = 1;

    SilentPeerException(long millis) {
        super("nothing received: millis=" + millis);
    }
}
