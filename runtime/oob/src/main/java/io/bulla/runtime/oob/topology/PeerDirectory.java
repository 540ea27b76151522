// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.topology;

import java.net.SocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Where peers listen.
@FunctionalInterface
public interface PeerDirectory {

    /// A peer's address.
    ///
    /// @param rank of the peer
    /// @return where it listens, or `null` if it is not known
    @Nullable
    SocketAddress addressOf(int rank);

    /// All addresses of a peer. A node tries them in turn, and goes on with the one that worked; the verdict on a
    /// peer waits until each of them has been tried. It asks before each attempt, on its event loop: the answer has
    /// to be there already.
    ///
    /// @param rank of the peer
    /// @return the likeliest first; empty if none is known. By default [#addressOf(int)] alone
    default List<SocketAddress> addressesOf(int rank) {
        @Nullable SocketAddress only = addressOf(rank);
        return only == null ? List.of() : List.of(only);
    }
}
