// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.pack.WireFormat;
import io.bulla.pack.value.Proc;
import io.bulla.runtime.pmix.internal.wire.Header;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/// A server that says what a test tells it to: the captured answers, unless its script has something else.
final class ScriptedServer implements AutoCloseable {

    /// What a client has sent.
    record Request(int tag, byte command, byte[] body) {}

    /// Answers a request, or does not.
    interface Script {
        void answer(Request request, Peer peer) throws IOException;
    }

    /// The connection, as a script uses it.
    record Peer(Socket socket, OutputStream out) {

        void send(int tag, byte[] body) throws IOException {
            raw(frame(tag, body.length, body));
        }

        synchronized void raw(byte[] bytes) throws IOException {
            out.write(bytes);
            out.flush();
        }
    }

    static final byte[] SUCCESS = {2, 0};

    private final ServerSocket listener;
    private final Script script;
    private final Thread thread;
    private final byte[] helloAnswer;
    final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
    final BlockingQueue<Peer> peers = new LinkedBlockingQueue<>();
    private final AtomicInteger connections = new AtomicInteger();
    volatile byte[] hello;

    ScriptedServer(Script script) throws IOException {
        this(script, new byte[] {0, 0, 0, 0, 0, 0, 0, 1});
    }

    ScriptedServer(Script script, byte[] helloAnswer) throws IOException {
        this.script = script;
        this.helloAnswer = helloAnswer;
        this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        this.thread = Thread.ofVirtual().start(this::serve);
    }

    static byte[] frame(int tag, long length, byte[] body) {
        return ByteBuffer.allocate(Header.BYTES + body.length)
                .putInt(0)
                .putInt(tag)
                .putInt((int) length)
                .putInt(0)
                .put(body)
                .array();
    }

    /// What the captured server said to each command.
    static void captured(Request request, Peer peer) throws IOException {
        switch (request.command()) {
            case 0 -> peer.send(request.tag(), Capture.answer(0));
            case 4 -> peer.send(request.tag(), Capture.answer(4));
            case 14 -> {}
            default -> peer.send(request.tag(), SUCCESS);
        }
    }

    PmixEnvironment environment() {
        return new PmixEnvironment(
                new Proc(Capture.NAMESPACE, 0),
                new PmixServer(
                        "server.0", new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.getLocalPort())),
                "v41",
                WireFormat.PMIX_4,
                "4.2.2");
    }

    /// Waits until clients have ended what they began.
    ///
    /// @return connections that are open all the same
    int awaitNoConnection() {
        for (int i = 0; i < 6_000 && connections.get() > 0; i++) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
        return connections.get();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Peer peer : peers) {
            peer.socket().close();
        }
        thread.interrupt();
    }

    private void serve() {
        while (!listener.isClosed()) {
            try (Socket socket = listener.accept()) {
                connections.incrementAndGet();
                socket.setTcpNoDelay(true);
                Peer peer = new Peer(socket, socket.getOutputStream());
                talk(new DataInputStream(socket.getInputStream()), peer);
            } catch (IOException over) {
                // the next one
            } finally {
                connections.updateAndGet(count -> Math.max(0, count - 1));
            }
        }
    }

    private void talk(DataInputStream in, Peer peer) throws IOException {
        byte[] head = in.readNBytes(Header.BYTES);
        int length = ByteBuffer.wrap(head).order(ByteOrder.nativeOrder()).getInt(8);
        byte[] rest = in.readNBytes(length);
        hello = ByteBuffer.allocate(Header.BYTES + length).put(head).put(rest).array();
        peer.raw(helloAnswer);
        peers.add(peer);
        while (true) {
            in.readInt();
            int tag = in.readInt();
            byte[] body = new byte[in.readInt()];
            in.readInt();
            in.readFully(body);
            Request request = new Request(tag, body[1], body);
            requests.add(request);
            script.answer(request, peer);
        }
    }
}
