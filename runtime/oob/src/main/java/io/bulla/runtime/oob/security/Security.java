// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import io.netty.channel.Channel;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.Optional;

/// How connections are protected, and who stands at the other end. One instance may serve many channels.
///
/// ```
/// connect or accept --secure()--> frames are read and written --first frame, a hello--> peerOf() is asked
/// ```
public interface Security {

    /// Stands for a peer that is not known: who connects has not said yet who it is, or cannot prove it.
    int UNKNOWN = -1;

    /// Refuses addresses that this protection is not good enough for. Asked before the node binds and before it
    /// connects, and of the remote address of each accepted connection.
    ///
    /// @param address a node's own, or a peer's
    /// @throws IOException that names the address, if it is refused
    default void checkAddress(SocketAddress address) throws IOException {}

    /// Refuses to stand for another node than the one it was made for. Asked before a node starts.
    ///
    /// @param rank of the node
    /// @throws IOException that names both, if they differ
    default void checkRank(int rank) throws IOException {}

    /// Prepares a fresh channel, before anything was read or written: adds handlers to its pipeline. The handlers
    /// of frames are added behind them. Runs on the channel's event loop.
    ///
    /// @param channel not registered with a selector's interests yet
    /// @param connecting true if this node connects, false if it accepts
    /// @param expectedPeer rank of the peer that is connected to, or [#UNKNOWN]
    /// @throws IOException if it cannot be secured: the channel is closed
    void secure(Channel channel, boolean connecting, int expectedPeer) throws IOException;

    /// Whom the channel belongs to. Asked once, when the first frame has arrived: a hello that claims a rank. If
    /// they differ, the connection is refused.
    ///
    /// @param channel prepared by [#secure]
    /// @return the rank that was proven, or [#UNKNOWN] if nothing is proven here and the claim is taken as true
    /// @throws IOException if the channel's peer may not be here
    int peerOf(Channel channel) throws IOException;

    /// By what broadcasts are signed, so that relays cannot change them. Asked when a node starts.
    ///
    /// @return nothing if nodes have no keys that others could check: then none can be signed
    default Optional<OriginSignatures> originSignatures() {
        return Optional.empty();
    }

    /// For the first words of a program and of its log.
    ///
    /// @return a word such as `none` or `tls`
    String name();

    /// No protection: everybody who can connect is believed. Loopback addresses only.
    ///
    /// @return a security for trials within one machine
    static Security plaintext() {
        return new Plaintext(false);
    }

    /// No protection, on any address: for networks that are closed by other means.
    ///
    /// @return a security that protects nothing
    static Security plaintextBeyondLoopback() {
        return new Plaintext(true);
    }
}
