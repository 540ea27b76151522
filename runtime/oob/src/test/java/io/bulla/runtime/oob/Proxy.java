// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/// Stands between two nodes: forwards bytes, and does what networks do to them.
final class Proxy implements AutoCloseable {

    private static final int NEVER = -1;
    private static final int OVERHEARD = 1 << 12;

    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Supplier<InetSocketAddress> target;
    private final Map<Socket, Socket> pairs = new ConcurrentHashMap<>();
    private final AtomicInteger accepted = new AtomicInteger();
    private final AtomicLong forwarded = new AtomicLong();
    private volatile long cutAfter = NEVER;
    private volatile long stallAfter = NEVER;
    private volatile boolean stalled;
    private volatile boolean refusing;
    private final Set<Socket> frozen = ConcurrentHashMap.newKeySet();
    private final ByteArrayOutputStream overheard = new ByteArrayOutputStream();

    Proxy(Supplier<InetSocketAddress> target) throws IOException {
        this.target = target;
        Thread.ofVirtual().start(this::accept);
    }

    InetSocketAddress address() {
        return (InetSocketAddress) server.getLocalSocketAddress();
    }

    int accepted() {
        return accepted.get();
    }

    /// Bytes forwarded from who connected.
    long forwarded() {
        return forwarded.get();
    }

    /// The first bytes of who connected first, as an eavesdropper has them.
    byte[] overheard() {
        synchronized (overheard) {
            return overheard.toByteArray();
        }
    }

    private void listen(byte[] chunk, int read) {
        synchronized (overheard) {
            overheard.write(chunk, 0, Math.min(read, OVERHEARD - overheard.size()));
        }
    }

    /// Resets the connection once, after that many more bytes from who connected.
    void cutAfter(long bytes) {
        cutAfter = forwarded.get() + bytes;
    }

    boolean isCut() {
        return cutAfter == NEVER;
    }

    /// Swallows nothing and forwards nothing, without closing.
    void stall(boolean stall) {
        stallAfter = NEVER;
        stalled = stall;
    }

    /// Stalls after that many more bytes from who connected.
    void stallAfter(long bytes) {
        stallAfter = forwarded.get() + bytes;
    }

    /// The connections that there are now stay open and forward nothing any more, not even their end.
    void freeze() {
        pairs.forEach((from, to) -> {
            frozen.add(from);
            frozen.add(to);
        });
    }

    void refuse(boolean refuse) {
        refusing = refuse;
    }

    /// Resets all connections.
    void reset() {
        pairs.forEach((from, to) -> {
            reset(from);
            reset(to);
        });
    }

    @Override
    public void close() throws IOException {
        server.close();
        reset();
    }

    private static void reset(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
            socket.close();
        } catch (IOException closedAlready) {
            // as wanted
        }
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket from = server.accept();
                accepted.incrementAndGet();
                if (refusing) {
                    reset(from);
                    continue;
                }
                Socket to = new Socket();
                try {
                    to.connect(target.get());
                } catch (IOException | RuntimeException notConnected) {
                    reset(from);
                    continue;
                }
                from.setTcpNoDelay(true);
                to.setTcpNoDelay(true);
                pairs.put(from, to);
                Thread.ofVirtual().start(() -> forward(from, to, true));
                Thread.ofVirtual().start(() -> forward(to, from, false));
            } catch (IOException closed) {
                // the next round sees it
            }
        }
    }

    private void forward(Socket from, Socket to, boolean up) {
        byte[] chunk = new byte[1 << 16];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
                awaitEndOfStall(from);
                if (frozen.contains(from) || from.isClosed()) {
                    return;
                }
                long cut = cutAfter;
                if (up && cut >= 0 && forwarded.get() + read >= cut) {
                    out.write(chunk, 0, (int) Math.max(0, cut - forwarded.get()));
                    out.flush();
                    // so that what was forwarded arrives before the reset, which overtakes
                    Thread.sleep(2);
                    cutAfter = NEVER;
                    break;
                }
                out.write(chunk, 0, read);
                if (up) {
                    listen(chunk, read);
                    long sum = forwarded.addAndGet(read);
                    stalled |= stallAfter != NEVER && sum >= stallAfter;
                }
            }
        } catch (IOException | InterruptedException over) {
            // both ends hear of it
        } finally {
            if (!frozen.contains(from)) {
                reset(from);
                reset(to);
                pairs.remove(from);
            }
        }
    }

    private void awaitEndOfStall(Socket from) throws InterruptedException {
        while (stalled && !from.isClosed()) {
            Thread.sleep(1);
        }
    }
}
