// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.bulk;

import java.io.IOException;
import java.util.function.Consumer;

/// A device that writes into a peer's memory, as a node uses it. One may serve several nodes of a process.
///
/// A node calls it, its lines and their landings on its event loop: no call waits for a peer.
public interface BulkTransport extends AutoCloseable {

    /// Opens this end of a line, for one connection to one peer.
    ///
    /// @param peer name of the peer, for reports
    /// @param failed told once, by any thread, if the line can no longer be used; not once it is closed
    /// @return closed by the node, with the connection
    /// @throws IOException if there is no line to be had: the connection carries everything
    BulkLine open(String peer, Consumer<? super IOException> failed) throws IOException;

    /// Ends the device. Nodes that use it are closed before.
    @Override
    void close();
}
