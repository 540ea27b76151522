// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/// Strangers at a node's port: each connects, says something, and waits for the node to end the connection.
final class Siege {

    /// What a stranger says.
    interface Words {
        void say(Socket socket, Random random) throws Exception;
    }

    /// A kind of stranger.
    record Attack(String name, Words words) {}

    private static final int PATIENCE_MILLIS = 60_000;

    private final InetSocketAddress target;
    private final Semaphore atOnce;
    private final AtomicLong slowest = new AtomicLong();
    /// Connections that the node did not end.
    final Queue<String> unharmed = new ConcurrentLinkedQueue<>();

    Siege(InetSocketAddress target, int atOnce) {
        this.target = target;
        this.atOnce = new Semaphore(atOnce);
    }

    /// From the connection to its end, in milliseconds.
    long slowestMillis() {
        return slowest.get() / 1_000_000;
    }

    /// Takes turns among the attacks, and waits for the end of them all.
    void run(List<Attack> attacks, int each, long seed) throws InterruptedException {
        List<Thread> strangers = new ArrayList<>();
        for (int i = 0; i < each * attacks.size(); i++) {
            Attack attack = attacks.get(i % attacks.size());
            Random random = new Random(seed + i);
            atOnce.acquire();
            strangers.add(Thread.ofVirtual().start(() -> {
                try {
                    one(attack, random);
                } finally {
                    atOnce.release();
                }
            }));
        }
        for (Thread stranger : strangers) {
            stranger.join();
        }
    }

    private void one(Attack attack, Random random) {
        long start = System.nanoTime();
        try (Socket socket = new Socket(target.getAddress(), target.getPort())) {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(PATIENCE_MILLIS);
            try {
                attack.words().say(socket, random);
                awaitEnd(socket);
            } catch (SocketTimeoutException endless) {
                unharmed.add(attack.name());
            } catch (IOException ended) {
                // in the middle of a word
            }
        } catch (Exception notEvenConnected) {
            unharmed.add(attack.name() + ": " + notEvenConnected);
        }
        slowest.accumulateAndGet(System.nanoTime() - start, Math::max);
    }

    private static void awaitEnd(Socket socket) throws IOException {
        if (socket.isClosed()) {
            return;
        }
        InputStream in = socket.getInputStream();
        byte[] answer = new byte[256];
        while (in.read(answer) >= 0) {
            // whatever it has to say
        }
    }
}
