// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.PeersFile;
import java.net.InetSocketAddress;

/// Nodes that were started with `bulla node`, here or on other machines.
///
/// @param peers where they are, the root too
/// @param rootSecurity as theirs
record RemoteCrew(PeersFile peers, Security rootSecurity) implements Crew {

    @Override
    public InetSocketAddress rootBind() {
        return peers.addressOf(0);
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
        return "of the peers file";
    }

    @Override
    public void close() {
        // they go on
    }
}
