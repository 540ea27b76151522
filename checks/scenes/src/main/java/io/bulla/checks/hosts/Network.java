// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Hosts of this machine: network namespaces, each with a cable to one bridge, which has a namespace of its own. All
/// are gone when this is closed.
public final class Network implements AutoCloseable {

    private static final String SUBNET = "10.77.";
    private static final String WRONG_ADDRESS = "02:00:00:00:00:ff";
    private static final int MTU = 1500;
    // the two ends of the relay
    private static final String NEAR = "near";
    private static final String FAR = "far";

    private final Spaces spaces = new Spaces();
    private final List<String> hostSpaces = new ArrayList<>();
    private final List<String> addresses = new ArrayList<>();
    private final String bridge;
    private @Nullable RelayProcess relay;
    private int moves;

    /// @throws IOException if this machine has no such namespaces, or this user may not make them
    public Network(int hosts) throws IOException {
        boolean whole = false;
        try {
            bridge = spaces.make("net");
            Spaces.ip(bridge, "link", "add", "br0", "type", "bridge");
            Spaces.ip(bridge, "link", "set", "br0", "up");
            for (int host = 0; host < hosts; host++) {
                String space = spaces.make("h" + host);
                hostSpaces.add(space);
                Spaces.ip(bridge, "link", "add", cable(host), "type", "veth", "peer", "name", "e0", "netns", space);
                Spaces.ip(bridge, "link", "set", cable(host), "master", "br0", "up");
                Spaces.ip(space, "link", "set", "lo", "up");
                Spaces.ip(space, "link", "set", "e0", "up");
                addresses.add(SUBNET + "0." + (host + 1));
                Spaces.ip(space, "addr", "add", addresses.get(host) + "/16", "dev", "e0");
            }
            whole = true;
        } finally {
            if (!whole) {
                close();
            }
        }
    }

    private String space(int host) {
        return hostSpaces.get(host);
    }

    private static String cable(int host) {
        return "v" + host;
    }

    public String address(int host) {
        return addresses.get(host);
    }

    /// How a program is started there.
    public List<String> within(int host) {
        return Spaces.within(space(host));
    }

    /// No packet goes to this host or comes from it, and neither side is told.
    public void pull(int host) throws IOException {
        Spaces.ip(bridge, "link", "set", cable(host), "nomaster");
    }

    public void plug(int host) throws IOException {
        Spaces.ip(bridge, "link", "set", cable(host), "master", "br0");
    }

    /// What one host sends to the other is lost; what the other sends arrives.
    void deafen(int from, int to) throws IOException {
        Spaces.ip(
                space(from), "neigh", "replace", address(to), "lladdr", WRONG_ADDRESS, "dev", "e0", "nud", "permanent");
    }

    void hear(int from, int to) throws IOException {
        Spaces.ip(space(from), "neigh", "del", address(to), "dev", "e0");
    }

    /// Larger packets to this host are lost, and the senders are not told.
    void narrow(int host, int mtu) throws IOException {
        Spaces.ip(space(host), "link", "set", "e0", "mtu", Integer.toString(mtu));
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
        Spaces.ip(space(host), "addr", "del", before + "/16", "dev", "e0");
        Spaces.ip(space(host), "addr", "add", address(host) + "/16", "dev", "e0");
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

    /// Tries whether there can be a relay, and begins it: a second bridge behind it, for a host that is far.
    ///
    /// @return why not, or `null`
    @Nullable
    String withoutRelay() {
        try {
            RelayProcess begun = new RelayProcess(bridge, List.of(NEAR, FAR));
            relay = begun;
            Spaces.ip(bridge, "link", "add", "br1", "type", "bridge");
            Spaces.ip(bridge, "link", "set", "br1", "up");
            Spaces.ip(bridge, "link", "set", NEAR, "master", "br0", "up");
            Spaces.ip(bridge, "link", "set", FAR, "master", "br1", "up");
            return null;
        } catch (IOException missing) {
            return missing.getMessage();
        }
    }

    /// All that goes to this host or comes from it is held for a time; at most one host at a time.
    ///
    /// @param twicePercent of how many frames in a hundred twice as long
    void away(int host, long micros, int twicePercent) throws IOException {
        Objects.requireNonNull(relay, "no relay").path(micros, twicePercent, 0);
        Spaces.ip(bridge, "link", "set", cable(host), "master", "br1");
    }

    /// What has gone through the relay.
    ///
    /// @return a text, which is empty if there is none
    String relayed() throws IOException {
        if (relay == null) {
            return "";
        }
        RelayProcess.Figures figures = relay.figures();
        return "frames=" + figures.frames() + " overtaken=" + figures.overtaken() + " dropped=" + figures.dropped();
    }

    void back(int host) throws IOException {
        plug(host);
        // it would be looked for behind the relay until it says something
        Spaces.ip(bridge, "link", "set", "br0", "type", "bridge", "fdb_flush");
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
        Spaces.run(in.toArray(String[]::new));
    }

    void noFilter(int host) throws IOException {
        List<String> in = new ArrayList<>(within(host));
        in.addAll(List.of("nft", "delete table ip t"));
        Spaces.run(in.toArray(String[]::new));
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
