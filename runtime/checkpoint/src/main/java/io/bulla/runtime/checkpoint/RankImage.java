// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.internal.Failures;
import io.bulla.runtime.oob.cut.NodeCut;
import java.util.Collections;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/// One node's part of a checkpoint: its cut, and the state of the program there.
///
/// @param cut what the node had undelivered, and the numbers of its sessions
/// @param states the program's own, by name; names of at most 255 bytes in UTF-8
public record RankImage(NodeCut cut, SortedMap<String, SealedBuffer> states) implements AutoCloseable {

    /// Takes over the handles: they are this image's to close.
    public RankImage {
        Objects.requireNonNull(cut, "cut");
        states = Collections.unmodifiableNavigableMap(new TreeMap<>(states));
    }

    /// Closes all handles, of the cut and of the states, each of them whatever another one's release throws.
    @Override
    public void close() {
        Throwable failure = Failures.close(cut, null);
        // by name: there may be no heap for an iterator
        NavigableMap<String, SealedBuffer> named = (NavigableMap<String, SealedBuffer>) states;
        for (String name = named.isEmpty() ? null : named.firstKey(); name != null; name = named.higherKey(name)) {
            SealedBuffer state = named.get(name);
            failure = state == null ? failure : Failures.close(state, failure);
        }
        Failures.rethrow(failure);
    }
}
