// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.core;

import io.bulla.buffer.MemorySource;
import org.jspecify.annotations.Nullable;

/// What the handles that a node keeps are tagged with, so that a `LeaseLedger` says for which peer memory is
/// held. A tag makes a handle larger, so there is none where no listener watches the node's memory.
///
/// @param to of messages that are sent to the peer, or `null`
/// @param from of messages that have come from the peer, or `null`
public record HolderTags(@Nullable Object to, @Nullable Object from) {

    private static final HolderTags NONE = new HolderTags(null, null);

    public static HolderTags of(int peer, MemorySource source) {
        return source.trace() == null ? NONE : new HolderTags("to peer " + peer, "from peer " + peer);
    }
}
