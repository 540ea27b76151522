// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.topology;

import java.net.SocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.IntFunction;

/// A directory that knows nothing at once.
record LateDirectory(IntFunction<? extends CompletionStage<List<SocketAddress>>> ask) implements PeerDirectory {

    LateDirectory {
        Objects.requireNonNull(ask, "ask");
    }

    @Override
    public SocketAddress addressOf(int rank) {
        throw answersLater(rank);
    }

    @Override
    public List<SocketAddress> addressesOf(int rank) {
        throw answersLater(rank);
    }

    @Override
    public CompletionStage<List<SocketAddress>> lookUp(int rank) {
        return ask.apply(rank);
    }

    static UnsupportedOperationException answersLater(int rank) {
        return new UnsupportedOperationException("directory answers later: lookUp(" + rank + ") asks it");
    }
}
