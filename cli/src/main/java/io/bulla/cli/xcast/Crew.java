// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.net.InetSocketAddress;

/// The nodes that receive, ranks 1 on, wherever they run.
interface Crew extends AutoCloseable {

    /// Where the root listens.
    InetSocketAddress rootBind();

    /// How the root is protected.
    Security rootSecurity() throws IOException;

    /// Starts the root.
    ///
    /// @param builder of all but where it listens and where the others are
    /// @throws IOException if it cannot listen
    default OobNode startRoot(OobNodeBuilder builder) throws IOException {
        return builder.directory(this::addressOf).bind(rootBind()).start();
    }

    /// Starts them, unless they are started elsewhere.
    ///
    /// @param root is listening
    /// @throws IOException if one does not start
    void start(InetSocketAddress root) throws IOException, InterruptedException;

    /// Where one listens, once they are started.
    InetSocketAddress addressOf(int rank);

    /// Whether they are in this process, so that the root's meters count for them too.
    default boolean isHere() {
        return false;
    }

    /// Broadcast messages that those in this process have sent on.
    default long sends() {
        return 0;
    }

    /// For the first line.
    String describe();

    /// What they are told when there is nothing more to come.
    default void dismiss(OobNode root) {}

    @Override
    void close() throws IOException;
}
