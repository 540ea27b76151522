// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.topology;

import java.net.SocketAddress;
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
}
