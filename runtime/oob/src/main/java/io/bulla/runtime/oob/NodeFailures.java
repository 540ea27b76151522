// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.runtime.oob.internal.core.Failures;

/// The failures that a node's program sees. Any thread.
final class NodeFailures implements Failures {

    @Override
    public PeerFailedException peerFailed(int peer, String why) {
        return new PeerFailedException(peer, why);
    }

    @Override
    public MessageRefusedException refused(int peer, int tag, long bytes, String why) {
        return new MessageRefusedException(peer, tag, bytes, why);
    }

    @Override
    public QueueFullException queueFull(String what) {
        return new QueueFullException(what);
    }
}
