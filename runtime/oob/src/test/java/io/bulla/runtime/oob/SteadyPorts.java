// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicInteger;

/// Ports that a node can give up and have again: a kernel gives none of them to a connection, which it takes from
/// those above.
final class SteadyPorts {

    private static final int FIRST = 10_000;
    private static final int COUNT = 22_000;
    // where other processes of tests do not look at the same time
    private static final AtomicInteger LAST =
            new AtomicInteger((int) (ProcessHandle.current().pid() * 997 % COUNT));

    private SteadyPorts() {}

    /// A port that was free a moment ago.
    static InetSocketAddress next() throws IOException {
        for (int tries = 1; ; tries++) {
            int port = FIRST + Math.floorMod(LAST.incrementAndGet(), COUNT);
            try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return new InetSocketAddress(free.getInetAddress(), port);
            } catch (IOException taken) {
                if (tries == COUNT) {
                    throw taken;
                }
            }
        }
    }
}
