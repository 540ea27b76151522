// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.Map;

/// What a message layer is measured by: sockets with blocking reads and writes and the kernel's own buffers. A
/// transfer is a number and a size of parts; the receiver answers by one byte when it has them all.
final class BareTcp implements AutoCloseable {

    /// Smaller parts are messages, whose content is looked at; others are bytes.
    static final int MESSAGE = 4096;

    /// The smallest message.
    static final int PING = Integer.BYTES;

    private static final int WRITE = 1 << 20;
    private static final int BATCH = 32 << 10;
    private static final int HEAD = 2 * Integer.BYTES;

    private final ServerSocketChannel server;
    private final Map<String, SocketChannel> connections = new HashMap<>();
    private final ByteBuffer block = ByteBuffer.allocateDirect(WRITE);

    /// Listens.
    BareTcp(InetSocketAddress at) throws IOException {
        server = ServerSocketChannel.open().bind(at);
        Thread.ofPlatform().daemon().start(this::accept);
    }

    private void accept() {
        while (true) {
            try {
                SocketChannel peer = server.accept();
                Thread.ofPlatform().daemon().start(() -> receive(peer));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private static void receive(SocketChannel from) {
        try (from) {
            from.setOption(StandardSocketOptions.TCP_NODELAY, true);
            ByteBuffer read = ByteBuffer.allocateDirect(WRITE);
            ByteBuffer answer = ByteBuffer.allocate(1);
            read.flip();
            while (fill(from, read, HEAD)) {
                int count = read.getInt();
                int bytes = read.getInt();
                if (bytes < MESSAGE) {
                    byte[] message = new byte[bytes];
                    for (int i = 0; i < count; i++) {
                        fill(from, read, Integer.BYTES + bytes);
                        read.getInt();
                        read.get(message);
                        if (!Content.isMessage(message, i)) {
                            throw new IOException("not what was sent: index=" + i);
                        }
                    }
                } else {
                    long left = (long) count * bytes;
                    while (left > 0) {
                        fill(from, read, 1);
                        int taken = (int) Math.min(left, read.remaining());
                        read.position(read.position() + taken);
                        left -= taken;
                    }
                }
                from.write(answer.clear());
            }
        } catch (IOException gone) {
            // its sender has ended, or is told by the end of the connection
        }
    }

    /// @return false if the connection ends before the first byte
    private static boolean fill(SocketChannel from, ByteBuffer read, int bytes) throws IOException {
        if (read.remaining() >= bytes) {
            return true;
        }
        read.compact();
        while (read.position() < bytes) {
            if (from.read(read) < 0) {
                return false;
            }
        }
        read.flip();
        return true;
    }

    /// Sends, and waits for the answer. A connection is kept for the next one.
    void send(String address, int port, int count, int bytes) throws IOException {
        SocketChannel to;
        synchronized (connections) {
            to = connections.get(address);
            if (to == null) {
                to = SocketChannel.open(new InetSocketAddress(address, port));
                to.setOption(StandardSocketOptions.TCP_NODELAY, true);
                connections.put(address, to);
            }
        }
        ByteBuffer head = ByteBuffer.allocate(HEAD).putInt(count).putInt(bytes).flip();
        to.write(head);
        if (bytes < MESSAGE) {
            messages(to, count, bytes);
        } else {
            ByteBuffer data = block.duplicate();
            for (long left = (long) count * bytes; left > 0; ) {
                data.clear().limit((int) Math.min(left, WRITE));
                left -= data.remaining();
                while (data.hasRemaining()) {
                    to.write(data);
                }
            }
        }
        if (to.read(head.clear().limit(1)) != 1) {
            throw new IOException("no answer: address=" + address);
        }
    }

    /// As many in a write as a message layer that is any good puts into one.
    private static void messages(SocketChannel to, int count, int bytes) throws IOException {
        ByteBuffer batch = ByteBuffer.allocateDirect(BATCH);
        for (int i = 0; i < count; i++) {
            if (batch.remaining() < Integer.BYTES + bytes) {
                write(to, batch);
            }
            batch.putInt(bytes).put(Content.message(i, bytes));
        }
        write(to, batch);
    }

    private static void write(SocketChannel to, ByteBuffer batch) throws IOException {
        batch.flip();
        while (batch.hasRemaining()) {
            to.write(batch);
        }
        batch.clear();
    }

    /// The connections end; it listens still.
    void disconnect() throws IOException {
        synchronized (connections) {
            for (SocketChannel each : connections.values()) {
                each.close();
            }
            connections.clear();
        }
    }

    @Override
    public void close() throws IOException {
        disconnect();
        server.close();
    }
}
