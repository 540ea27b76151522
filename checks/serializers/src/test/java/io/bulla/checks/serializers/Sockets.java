// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.serializers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/// Connections through loopback, both ends of each.
record Sockets(List<SocketChannel> senders, List<SocketChannel> receivers) implements AutoCloseable {

    static Sockets open(int count) throws IOException {
        Sockets sockets = new Sockets(new ArrayList<>(), new ArrayList<>());
        try (ServerSocketChannel server =
                ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            for (int i = 0; i < count; i++) {
                sockets.senders.add(SocketChannel.open(server.getLocalAddress()));
                sockets.receivers.add(server.accept());
            }
        }
        return sockets;
    }

    @Override
    public void close() throws IOException {
        for (SocketChannel socket : senders) {
            socket.close();
        }
        for (SocketChannel socket : receivers) {
            socket.close();
        }
    }
}
