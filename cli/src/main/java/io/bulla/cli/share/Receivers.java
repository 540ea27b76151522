// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.share;

import io.bulla.cli.shell.Children;
import io.bulla.posix.socket.PosixSocket;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/// The processes of `bulla share`, and the sockets to them. They end by themselves when their socket does.
final class Receivers implements AutoCloseable {

    private static final int LOOK_MILLIS = 50;

    /// What is done with each of them.
    interface Step {
        void with(Link link) throws IOException;
    }

    private final ShareOptions options;
    private final long bytes;
    private final Children children;
    private final Path socket;
    private final PosixSocket listener;
    private final Link[] links;

    /// @param bytes that each may have to keep
    Receivers(ShareOptions options, long bytes) throws IOException {
        this.options = options;
        this.bytes = bytes;
        this.links = new Link[options.processes()];
        this.children = new Children("bulla-share", options.timeoutSeconds(), this::disconnect);
        this.socket = children.folder().resolve("socket");
        try {
            this.listener = PosixSocket.listen(socket);
        } catch (Throwable failure) {
            children.close();
            throw failure;
        }
    }

    /// For sockets: no other user may enter it, and it goes with the processes.
    Path folder() {
        return children.folder();
    }

    /// Starts them all, and waits until each has connected.
    ///
    /// @param lender where each connects first, or nothing
    /// @throws IOException if one dies, or the time is over
    void start(String lender) throws IOException {
        for (int i = 0; i < links.length; i++) {
            start(i, lender);
        }
        for (int connected = 0; connected < links.length; ) {
            children.checkAllAlive();
            try {
                if (listener.awaitReadable(LOOK_MILLIS)) {
                    Link link = Link.accepted(listener.accept());
                    links[link.index()] = link;
                    connected++;
                }
            } catch (IOException failure) {
                throw children.explained(failure);
            }
        }
    }

    /// Does something with each, one after the other.
    ///
    /// @throws IOException if one of them dies, or the time is over
    void each(Step step) throws IOException {
        for (int i = 0; i < links.length; i++) {
            try {
                step.with(links[i]);
            } catch (IOException failure) {
                throw children.died(i, failure);
            }
        }
    }

    @Override
    public void close() {
        children.close();
    }

    private void start(int index, String lender) throws IOException {
        children.start(
                ShareReceiver.class,
                // what is kept outside the heap is limited too
                List.of("-Xmx24m", "-XX:MaxDirectMemorySize=" + (bytes + (32L << 20))),
                List.of(
                        socket.toString(),
                        Integer.toString(index),
                        options.send().name(),
                        Integer.toString(options.rounds()),
                        Boolean.toString(index + 1 == options.failProcess()),
                        lender));
    }

    private void disconnect() {
        if (listener != null) {
            listener.close();
        }
        for (Link link : links) {
            if (link != null) {
                link.socket().close();
            }
        }
    }
}
