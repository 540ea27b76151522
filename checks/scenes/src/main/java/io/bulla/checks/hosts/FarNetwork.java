// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Hosts of this machine, each as far from each other one: a relay is their switch.
final class FarNetwork implements AutoCloseable {

    private static final String SUBNET = "10.78.0.";

    private final Spaces spaces = new Spaces();
    private final List<String> hostSpaces = new ArrayList<>();
    private @Nullable RelayProcess relay;

    /// @param buffers the most that the kernel shall keep for a socket, in bytes, or 0 for what it does by default
    /// @param packets whether each packet is a frame of its own, as on a cable, and not up to 64 KiB of them
    /// @throws IOException if this machine has no such namespaces or interfaces, or this user may not make them
    FarNetwork(int hosts, long buffers, boolean packets) throws IOException {
        boolean whole = false;
        try {
            String middle = spaces.make("net");
            List<String> interfaces = new ArrayList<>();
            for (int host = 0; host < hosts; host++) {
                interfaces.add("t" + host);
            }
            relay = new RelayProcess(middle, interfaces);
            for (int host = 0; host < hosts; host++) {
                String space = spaces.make("h" + host);
                hostSpaces.add(space);
                Spaces.ip(middle, "link", "set", "t" + host, "netns", space, "name", "e0");
                Spaces.ip(space, "link", "set", "lo", "up");
                Spaces.ip(space, "addr", "add", address(host) + "/24", "dev", "e0");
                Spaces.ip(space, "link", "set", "e0", "up");
                if (packets) {
                    Spaces.ip(space, "link", "set", "e0", "gso_max_segs", "1");
                }
                if (buffers > 0) {
                    set(host, "tcp_wmem", "4096 16384 " + buffers);
                    set(host, "tcp_rmem", "4096 131072 " + 2 * buffers);
                }
            }
            whole = true;
        } finally {
            if (!whole) {
                close();
            }
        }
    }

    private void set(int host, String name, String value) throws IOException {
        List<String> command = new ArrayList<>(within(host));
        command.addAll(List.of("sh", "-c", "echo " + value + " >/proc/sys/net/ipv4/" + name));
        Spaces.run(command.toArray(String[]::new));
    }

    RelayProcess relay() {
        return Objects.requireNonNull(relay, "relay");
    }

    String address(int host) {
        return SUBNET + (host + 1);
    }

    /// How a program is started there.
    List<String> within(int host) {
        return Spaces.within(hostSpaces.get(host));
    }

    /// Processes in it have to be ended before.
    @Override
    public void close() {
        if (relay != null) {
            relay.close();
        }
        spaces.close();
    }
}
