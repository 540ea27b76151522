// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

import io.bulla.runtime.oob.PeerFailedException;
import io.bulla.runtime.oob.internal.session.Session;

/// Events of peers. On the loop.
public interface PeerEvents {

    /// A session goes on, or begins.
    void onCarried(Session session);

    /// The verdict on a peer, or the end of its session.
    void onFailed(int peer, PeerFailedException failure);
}
