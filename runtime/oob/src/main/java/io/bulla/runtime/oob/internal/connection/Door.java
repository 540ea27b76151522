// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.internal.wire.RestoredFrom;
import io.netty.channel.Channel;
import java.io.IOException;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/// Where connections come in, as a connection needs it. On the loop.
interface Door {

    /// A hello has arrived.
    ///
    /// @param dialed whom the connection was dialed to, or `null`
    void onHello(Connection fresh, Connection.@Nullable Owner dialed, Hello hello, @Nullable RestoredFrom from)
            throws IOException;

    /// Whether it is known, and not just claimed, who is at the other end.
    boolean isProven(Channel channel);

    /// A connection ended that never belonged to a peer.
    void onUnknownPeer(SocketAddress remote, Throwable cause);
}
