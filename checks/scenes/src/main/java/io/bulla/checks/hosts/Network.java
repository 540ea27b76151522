// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Hosts of this machine: network namespaces, each with a cable to one bridge, which has a namespace of its own. All
/// are gone when this is closed.
final class Network implements AutoCloseable {

    private static final String SUBNET = "10.77.";
    private static final String WRONG_ADDRESS = "02:00:00:00:00:ff";
    private static final int MTU = 1500;

    private final String name = "bulla-" + ProcessHandle.current().pid();
    private final List<String> addresses = new ArrayList<>();
    private final List<String> made = new ArrayList<>();
    private int moves;

    /// @throws IOException if this machine has no such namespaces, or this user may not make them
    Network(int hosts) throws IOException {
        boolean whole = false;
        try {
            make(bridge());
            run("ip", "-n", bridge(), "link", "add", "br0", "type", "bridge");
            run("ip", "-n", bridge(), "link", "set", "br0", "up");
            for (int host = 0; host < hosts; host++) {
                make(space(host));
                run(
                        "ip",
                        "-n",
                        bridge(),
                        "link",
                        "add",
                        cable(host),
                        "type",
                        "veth",
                        "peer",
                        "e0",
                        "netns",
                        space(host));
                run("ip", "-n", bridge(), "link", "set", cable(host), "master", "br0", "up");
                run("ip", "-n", space(host), "link", "set", "lo", "up");
                run("ip", "-n", space(host), "link", "set", "e0", "up");
                addresses.add(SUBNET + "0." + (host + 1));
                run("ip", "-n", space(host), "addr", "add", addresses.get(host) + "/16", "dev", "e0");
            }
            whole = true;
        } finally {
            if (!whole) {
                close();
            }
        }
    }

    private void make(String space) throws IOException {
        run("ip", "netns", "add", space);
        made.add(space);
    }

    private String bridge() {
        return name + "-net";
    }

    private String space(int host) {
        return name + "-h" + host;
    }

    private static String cable(int host) {
        return "v" + host;
    }

    String address(int host) {
        return addresses.get(host);
    }

    /// How a program is started there.
    List<String> within(int host) {
        return List.of("ip", "netns", "exec", space(host));
    }

    /// No packet goes to this host or comes from it, and neither side is told.
    void pull(int host) throws IOException {
        run("ip", "-n", bridge(), "link", "set", cable(host), "nomaster");
    }

    void plug(int host) throws IOException {
        run("ip", "-n", bridge(), "link", "set", cable(host), "master", "br0");
    }

    /// What one host sends to the other is lost; what the other sends arrives.
    void deafen(int from, int to) throws IOException {
        run(
                "ip",
                "-n",
                space(from),
                "neigh",
                "replace",
                address(to),
                "lladdr",
                WRONG_ADDRESS,
                "dev",
                "e0",
                "nud",
                "permanent");
    }

    void hear(int from, int to) throws IOException {
        run("ip", "-n", space(from), "neigh", "del", address(to), "dev", "e0");
    }

    /// Larger packets to this host are lost, and the senders are not told.
    void narrow(int host, int mtu) throws IOException {
        run("ip", "-n", space(host), "link", "set", "e0", "mtu", Integer.toString(mtu));
    }

    void widen(int host) throws IOException {
        narrow(host, MTU);
    }

    /// Another address for the same host; the one before is gone.
    void move(int host) throws IOException {
        String before = address(host);
        addresses.set(host, SUBNET + (1 + moves / 250) + "." + (1 + moves % 250));
        moves++;
        // the first of a subnet takes the others with it
        run("ip", "-n", space(host), "addr", "del", before + "/16", "dev", "e0");
        run("ip", "-n", space(host), "addr", "add", address(host) + "/16", "dev", "e0");
    }

    /// Tries whether packets can be lost by chance, and connections be reset on their way.
    ///
    /// @return why not, or `null`
    @Nullable
    String withoutFirewall() {
        try {
            lose(0, 1);
            noFilter(0);
            reset(0, 1_000_000);
            noFilter(0);
            return null;
        } catch (IOException missing) {
            return missing.getMessage();
        }
    }

    /// Of all that this host sends, so many of a hundred packets are lost.
    void lose(int host, int percent) throws IOException {
        filter(host, "numgen random mod 100 < " + percent + " drop");
    }

    /// One in so many packets of this host's connections is answered by a reset; those that begin one get through.
    void reset(int host, int oneIn) throws IOException {
        filter(host, "tcp flags & (syn | rst) == 0 numgen random mod " + oneIn + " < 1 reject with tcp reset");
    }

    private void filter(int host, String rule) throws IOException {
        List<String> in = new ArrayList<>(within(host));
        in.addAll(List.of(
                "nft",
                "add table ip t; add chain ip t o { type filter hook output priority 0 ; }; add rule ip t o " + rule));
        run(in.toArray(String[]::new));
    }

    void noFilter(int host) throws IOException {
        List<String> in = new ArrayList<>(within(host));
        in.addAll(List.of("nft", "delete table ip t"));
        run(in.toArray(String[]::new));
    }

    private static void run(String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes()).strip();
        boolean interrupted = false;
        while (true) {
            try {
                if (process.waitFor() != 0) {
                    throw new IOException(
                            "command failed: command=" + Arrays.toString(command) + " said=[" + said + "]");
                }
                return;
            } catch (InterruptedException later) {
                interrupted = true;
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    /// Processes in it have to be ended before.
    @Override
    public void close() {
        for (String space : made.reversed()) {
            try {
                run("ip", "netns", "del", space);
            } catch (IOException stays) {
                System.err.println("hosts: a namespace stays: " + stays.getMessage());
            }
        }
        made.clear();
    }
}
