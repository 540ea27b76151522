// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import io.netty.channel.Channel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/// Protects nothing, and so stays within the machine unless told otherwise.
record Plaintext(boolean beyondLoopback) implements Security {

    @Override
    public void checkAddress(SocketAddress address) throws IOException {
        boolean local = address instanceof InetSocketAddress internet
                && internet.getAddress() != null
                && internet.getAddress().isLoopbackAddress();
        if (!local && !beyondLoopback) {
            throw new IOException("plaintext is for loopback addresses only, unless asked for: address=" + address);
        }
    }

    @Override
    public void secure(Channel channel, boolean connecting, int expectedPeer) {
        // nothing to add
    }

    @Override
    public int peerOf(Channel channel) {
        return UNKNOWN;
    }

    @Override
    public String name() {
        return "none";
    }
}
