// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/// Nodes of several hosts send to each other while faults of a seed befall the hosts; a ledger outside of them
/// counts.
public final class HostsCheck implements AutoCloseable {

    // of so many nodes two processors are enough; more of them answer later
    private static final int FEW = 4;
    private static final Duration HEARTBEAT = Duration.ofMillis(500);
    private static final long PATIENCE_NANOS = Duration.ofMinutes(3).toNanos();
    private static final long GAP_NANOS = Duration.ofMillis(250).toNanos();

    final Cuts cuts;
    final HostLedger ledger;
    final Duration timeout;
    final Network network;
    final SplittableRandom random;
    final int hosts;
    private final String secret;
    private final String before;
    // by rank; the youngest life
    private final HostProcess[] nodes;
    // all lives, to be ended
    private final List<HostProcess> begun = new CopyOnWriteArrayList<>();
    private final Map<String, Integer> faults = new TreeMap<>();
    private final Map<String, Long> slowest = new HashMap<>();
    private int lives;
    // volatile: the threads beside the faults end by it
    private volatile boolean over;

    private HostsCheck(int hosts, long seed, String secret, String before) throws IOException {
        this.before = before;
        this.hosts = hosts;
        this.timeout = Duration.ofSeconds(hosts > FEW ? 8 : 4);
        this.cuts = new Cuts(timeout.toNanos() / 3);
        this.ledger = new HostLedger(cuts, timeout.toNanos(), HEARTBEAT.toNanos());
        this.random = new SplittableRandom(seed);
        this.secret = secret;
        this.nodes = new HostProcess[hosts];
        this.network = new Network(hosts);
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
    }

    /// @param arguments as `./check hosts` has them
    public static void main(String[] arguments) throws Exception {
        int hosts = 5;
        long seconds = 60;
        long seed = System.currentTimeMillis();
        String secret = "";
        String before = "";
        boolean first = false;
        List<String> only = List.of();
        for (int i = 0; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "--hosts" -> hosts = Integer.parseInt(arguments[++i]);
                case "--seconds" -> seconds = Long.parseLong(arguments[++i]);
                case "--seed" -> seed = Long.parseLong(arguments[++i]);
                case "--tls" -> secret = "a secret of thirty-two characters";
                case "--before" -> before = arguments[++i];
                case "--first" -> first = true;
                case "--only" -> only = List.of(arguments[++i].split(","));
                default -> {
                    System.err.println(
                            "hosts: unknown option: " + arguments[i] + " (--hosts, --seconds, --seed, --tls, --only)");
                    System.exit(2);
                }
            }
        }
        System.out.println("hosts: seed=" + seed + " hosts=" + hosts + " tls=" + !secret.isEmpty());
        boolean sound;
        try (HostsCheck check = new HostsCheck(hosts, seed, secret, before)) {
            sound = check.run(seconds, first, only);
        }
        System.exit(sound ? 0 : 1);
    }

    /// @param first whether to end with the first rule that is broken
    /// @param only kinds of faults, or none for all
    private boolean run(long seconds, boolean first, List<String> only) throws Exception {
        for (int rank = 0; rank < hosts; rank++) {
            begin(rank);
        }
        for (HostProcess node : nodes) {
            node.awaitReady();
        }
        for (int rank = 0; rank < hosts; rank++) {
            announce(rank);
        }
        HostFaults each = new HostFaults(this, only);
        each.warmUp();
        Thread watch = Thread.ofPlatform().start(this::watch);
        Thread traffic = Thread.ofPlatform().start(this::send);
        long end = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
        while (System.nanoTime() < end) {
            String kind = each.next();
            faults.merge(kind, 1, Integer::sum);
            if (first && !ledger.broken().isEmpty()) {
                ledger.broken().forEach(line -> System.out.println("hosts: broken: " + line));
                return false;
            }
        }
        over = true;
        traffic.join();
        ledger.await(PATIENCE_NANOS, () -> ledger.open().isEmpty());
        for (HostProcess node : nodes) {
            node.leave();
        }
        for (HostProcess node : nodes) {
            if (!node.awaitEnd()) {
                ledger.wrong("a node does not end: node=" + node);
            }
        }
        watch.join();
        ledger.audit(List.of(nodes));
        ledger.broken().forEach(line -> System.out.println("hosts: broken: " + line));
        System.out.println("hosts: faults: " + faults);
        slowest.forEach((what, nanos) -> System.out.println(
                "hosts: slowest: " + what + " millis=" + nanos / 1_000_000 + " peer-timeout=" + timeout.toMillis()));
        System.out.println("hosts: relay: " + network.relayed());
        System.out.println("hosts: " + ledger.story());
        int count = faults.values().stream().mapToInt(Integer::intValue).sum();
        System.out.println("hosts: hosts=" + hosts + " faults=" + count + " " + ledger.figures());
        return ledger.broken().isEmpty();
    }

    /// A life of a node begins; [HostProcess#awaitReady] and [#announce] are still to come.
    HostProcess begin(int rank) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(
                Integer.toString(rank),
                Integer.toString(hosts),
                network.address(rank),
                Long.toString(timeout.toMillis()),
                Long.toString(HEARTBEAT.toMillis())));
        if (!secret.isEmpty()) {
            arguments.add(secret.replace(' ', '-'));
        }
        HostProcess life =
                new HostProcess(rank, ++lives, before, network.within(rank), HostAgent.class, arguments, ledger);
        begun.add(life);
        ledger.begun(life);
        synchronized (nodes) {
            nodes[rank] = life;
        }
        return life;
    }

    /// Where a node is, to all others, and where they are, to it.
    void announce(int rank) {
        HostProcess node = node(rank);
        for (int peer = 0; peer < hosts; peer++) {
            node.tell("peer", peer, network.address(peer), HostAgent.PORT);
            node(peer).tell("peer", rank, network.address(rank), HostAgent.PORT);
        }
    }

    HostProcess node(int rank) {
        synchronized (nodes) {
            return nodes[rank];
        }
    }

    /// @return the number of a message; those of a sender are in the order in which it sends them
    int send(int from, int to, int bytes) {
        HostProcess sender = node(from);
        synchronized (sender) {
            int id = ledger.sent(sender, to, bytes);
            if (to == HostLedger.ALL) {
                sender.tell("cast", id, bytes);
            } else {
                sender.tell("send", id, to, bytes);
            }
            return id;
        }
    }

    /// The largest figure of its kind is told at the end.
    void took(String what, long nanos) {
        slowest.merge(what, nanos, Math::max);
    }

    /// What all send meanwhile.
    private void send() {
        SplittableRandom own;
        synchronized (random) {
            own = random.split();
        }
        while (!over) {
            int from = own.nextInt(hosts);
            HostProcess sender = node(from);
            if (!sender.isOver()) {
                if (own.nextInt(10) == 0) {
                    send(from, HostLedger.ALL, own.nextInt(1 << 15));
                } else {
                    int bits = own.nextInt(20) == 0 ? 20 : own.nextInt(4) == 0 ? 16 : 10;
                    send(from, (from + 1 + own.nextInt(hosts - 1)) % hosts, own.nextInt(1 << bits));
                }
            }
            LockSupport.parkNanos(own.nextLong(10_000_000, 30_000_000));
        }
    }

    /// A machine that is busy holds up all nodes: such times count as cuts.
    private void watch() {
        long before = System.nanoTime();
        while (!over) {
            LockSupport.parkNanos(50_000_000);
            long now = System.nanoTime();
            if (now - before > GAP_NANOS) {
                cuts.end(cuts.begin(Cuts.ALL, Cuts.ALL, before), now);
            }
            before = now;
        }
    }

    /// Also at the end of the process, however it comes: namespaces would stay, and nodes in them.
    @Override
    public synchronized void close() {
        for (HostProcess node : begun) {
            try {
                node.kill();
            } catch (InterruptedException hurry) {
                Thread.currentThread().interrupt();
            }
        }
        begun.clear();
        network.close();
    }
}
