// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.bench.Medians;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;

/// The floor of a broadcast to 64 nodes: as many bytes through 64 bare sockets of the loopback, from one block of
/// memory into 64, all of which are there already. One thread writes, another one reads: no library, no selector,
/// nothing but the kernel's two copies.
///
/// Prints milliseconds, the median.
public final class BareSockets {

    private static final int PEERS = 64;
    private static final int BYTES = 4 << 20;
    private static final int STEP = 256 << 10;
    private static final int WARMUPS = 8;
    private static final int ROUNDS = 15;

    private BareSockets() {}

    public static void main(String[] args) throws Exception {
        List<SocketChannel> senders = new ArrayList<>();
        List<SocketChannel> receivers = new ArrayList<>();
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            for (int i = 0; i < PEERS; i++) {
                senders.add(SocketChannel.open(server.getLocalAddress()));
                receivers.add(server.accept());
            }
        }
        CyclicBarrier round = new CyclicBarrier(2);
        Thread reader = Thread.ofPlatform().daemon().start(() -> readAll(receivers, round));
        ByteBuffer message = ByteBuffer.allocateDirect(BYTES);
        double[] millis = new double[ROUNDS];
        for (int i = -WARMUPS; i < ROUNDS; i++) {
            round.await();
            long start = System.nanoTime();
            writeRound(senders, message);
            round.await();
            if (i >= 0) {
                millis[i] = (System.nanoTime() - start) / 1e6;
            }
        }
        reader.join();
        System.out.println(Medians.of(millis));
        for (SocketChannel socket : senders) {
            socket.close();
        }
        for (SocketChannel socket : receivers) {
            socket.close();
        }
    }

    private static void writeRound(List<SocketChannel> senders, ByteBuffer message) throws IOException {
        for (int at = 0; at < BYTES; at += STEP) {
            for (SocketChannel socket : senders) {
                for (message.limit(at + STEP).position(at); message.hasRemaining(); ) {
                    socket.write(message);
                }
            }
        }
    }

    private static void readAll(List<SocketChannel> receivers, CyclicBarrier round) {
        List<ByteBuffer> memory = new ArrayList<>();
        receivers.forEach(socket -> memory.add(ByteBuffer.allocateDirect(BYTES)));
        try {
            for (int i = -WARMUPS; i < ROUNDS; i++) {
                round.await();
                for (int at = 0; at < BYTES; at += STEP) {
                    for (int peer = 0; peer < PEERS; peer++) {
                        read(
                                receivers.get(peer),
                                memory.get(peer).limit(at + STEP).position(at));
                    }
                }
                round.await();
            }
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static void read(SocketChannel socket, ByteBuffer into) throws IOException {
        while (into.hasRemaining()) {
            if (socket.read(into) < 0) {
                throw new EOFException("socket closed: missing=" + into.remaining());
            }
        }
    }
}
