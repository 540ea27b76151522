// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.cli.shell.Peers;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.net.InetSocketAddress;

/// Nodes that were started with `bulla node`, here or on other machines.
///
/// @param peers where they are, the root too
/// @param rootBind where the root listens
/// @param rootSecurity as theirs
record RemoteCrew(Peers peers, InetSocketAddress rootBind, Security rootSecurity) implements Crew {

    @Override
    public OobNode startRoot(OobNodeBuilder builder) throws IOException {
        return builder.directory(peers.directory()).bind(rootBind).start();
    }

    @Override
    public void start(InetSocketAddress root) {
        // they run already
    }

    @Override
    public InetSocketAddress addressOf(int rank) {
        return peers.addressOf(rank);
    }

    @Override
    public String describe() {
        return peers.describe();
    }

    @Override
    public void close() {
        // they go on
    }
}
