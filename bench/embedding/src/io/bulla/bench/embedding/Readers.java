// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.embedding;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// Another process, which listens at many ports and drops what it reads. It ends with its standard input.
final class Readers implements AutoCloseable {

    private final Process process;
    final List<InetSocketAddress> addresses = new ArrayList<>();

    Readers(int count) throws IOException {
        process = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Readers.class.getName(),
                        "" + count)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader ports =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII));
        for (int i = 0; i < count; i++) {
            addresses.add(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(ports.readLine())));
        }
    }

    @Override
    public void close() {
        process.destroy();
    }

    /// @param args how many ports
    public static void main(String[] args) throws IOException {
        Thread.ofPlatform().daemon().start(() -> {
            try {
                while (System.in.read() >= 0) {
                    // until the parent ends
                }
            } catch (IOException gone) {
                // ends too
            }
            System.exit(0);
        });
        Selector selector = Selector.open();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            ServerSocketChannel port = ServerSocketChannel.open()
                    .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            port.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
            System.out.println(port.socket().getLocalPort());
        }
        ByteBuffer dropped = ByteBuffer.allocateDirect(1 << 20);
        while (true) {
            selector.select(key -> {
                try {
                    if (key.isAcceptable()) {
                        SocketChannel accepted = ((ServerSocketChannel) key.channel()).accept();
                        accepted.setOption(StandardSocketOptions.SO_RCVBUF, 1 << 20);
                        accepted.configureBlocking(false).register(selector, SelectionKey.OP_READ);
                    } else if (((SocketChannel) key.channel()).read(dropped.clear()) < 0) {
                        key.channel().close();
                    }
                } catch (IOException gone) {
                    key.cancel();
                }
            });
        }
    }
}
