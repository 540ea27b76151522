// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts.checkpoints;

import io.bulla.checks.hosts.HostProcess;
import io.bulla.checks.hosts.Network;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Nodes of several hosts take checkpoints while their hosts go silent or die at a step of one. Each ends by name,
/// the nodes that live go on, what was published is sound, and the job goes on from the newest one with each message
/// once.
///
/// ```
/// take --at a step--> the coordinator, or another, is pulled or killed --> the others go on --> mended, or all
///                     processes end and others go on from the newest one --> numbers come from all, to all
/// ```
public final class CheckpointHostsCheck implements AutoCloseable {

    // no silence of this check is as long: no node is judged
    private static final Duration PEER_TIMEOUT = Duration.ofMinutes(30);
    private static final long PATIENCE_NANOS = Duration.ofMinutes(3).toNanos();
    private static final long LONG_MILLIS = 120_000;
    private static final long SHORT_MILLIS = 2_500;
    private static final List<String> OF_COORDINATOR = List.of("prepared", "saving", "writing", "publishing");
    private static final List<String> OF_OTHERS = List.of("saving", "writing");

    @FunctionalInterface
    private interface Fault {
        void run(int coordinator, int other) throws IOException, InterruptedException;
    }

    private record Named(String name, Fault fault) {}

    private final int hosts;
    private final String before;
    private final Path folder;
    private final Network network;
    private final CheckpointLedger ledger;
    private final SplittableRandom random;
    private final HostProcess[] nodes;
    private final List<HostProcess> begun = new CopyOnWriteArrayList<>();
    private final List<Named> all = new ArrayList<>();
    private final List<Named> round = new ArrayList<>();
    private final Map<String, Integer> faults = new TreeMap<>();
    private int lives;
    private int taken;
    private int restored;
    private boolean closed;

    private CheckpointHostsCheck(int hosts, long seed, String before) throws IOException {
        this.hosts = hosts;
        this.before = before;
        this.random = new SplittableRandom(seed);
        this.nodes = new HostProcess[hosts];
        this.folder = Files.createTempDirectory("bulla-hosts-");
        this.ledger = new CheckpointLedger(folder);
        this.network = new Network(hosts);
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
        all.add(new Named("none", (coordinator, other) -> whole(coordinator)));
        all.add(new Named("cable-pulled-shortly", this::cable));
        all.add(new Named("slow-ticking", (coordinator, other) -> slow(coordinator, other, "ticking")));
        for (String step : OF_OTHERS) {
            all.add(new Named("slow-" + step, (coordinator, other) -> slow(coordinator, other, step)));
        }
        for (String step : OF_COORDINATOR) {
            all.add(new Named(
                    "coordinator-silent-" + step, (coordinator, other) -> silent(coordinator, coordinator, step)));
            all.add(new Named(
                    "coordinator-killed-" + step, (coordinator, other) -> killed(coordinator, coordinator, step)));
        }
        for (String step : OF_OTHERS) {
            all.add(new Named("other-silent-" + step, (coordinator, other) -> silent(coordinator, other, step)));
            all.add(new Named("other-killed-" + step, (coordinator, other) -> killed(coordinator, other, step)));
        }
    }

    /// @param arguments as `./check hosts --checkpoints` has them
    public static void main(String[] arguments) throws Exception {
        int hosts = 4;
        long seconds = 60;
        long seed = System.currentTimeMillis();
        String before = "";
        boolean first = false;
        List<String> only = List.of();
        for (int i = 0; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "--hosts" -> hosts = Integer.parseInt(arguments[++i]);
                case "--seconds" -> seconds = Long.parseLong(arguments[++i]);
                case "--seed" -> seed = Long.parseLong(arguments[++i]);
                case "--before" -> before = arguments[++i];
                case "--first" -> first = true;
                case "--only" -> only = List.of(arguments[++i].split(","));
                default -> {
                    System.err.println(
                            "hosts: unknown option: " + arguments[i] + " (--hosts, --seconds, --seed, --only)");
                    System.exit(2);
                }
            }
        }
        System.out.println("hosts: seed=" + seed + " hosts=" + hosts + " checkpoints");
        boolean sound;
        try (CheckpointHostsCheck check = new CheckpointHostsCheck(hosts, seed, before)) {
            sound = check.run(seconds, first, only);
        }
        System.exit(sound ? 0 : 1);
    }

    private boolean run(long seconds, boolean first, List<String> only) throws Exception {
        for (String name : only) {
            if (all.stream().noneMatch(each -> each.name().equals(name))) {
                throw new IllegalArgumentException("no such fault: name=" + name + " there are: "
                        + all.stream().map(Named::name).toList());
            }
        }
        all.removeIf(each -> !only.isEmpty() && !only.contains(each.name()));
        beginAll();
        whole(0);
        // each kind once at least
        long end = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
        while ((System.nanoTime() < end || faults.size() < all.size())
                && !(first && !ledger.broken().isEmpty())) {
            if (round.isEmpty()) {
                round.addAll(all);
            }
            Named next = round.remove(random.nextInt(round.size()));
            int coordinator = random.nextInt(hosts);
            int other = (coordinator + 1 + random.nextInt(hosts - 1)) % hosts;
            faults.merge(next.name(), 1, Integer::sum);
            int known = ledger.broken().size();
            next.fault().run(coordinator, other);
            goesOn(everyone(), "after " + next.name());
            ledger.broken().stream()
                    .skip(known)
                    .forEach(line -> System.out.println("hosts: broken: fault=" + next.name() + " coordinator="
                            + coordinator + " other=" + other + " " + line));
        }
        if (ledger.broken().isEmpty()) {
            restoreAll();
            goesOn(everyone(), "restored at the end");
            leaveAll();
            ledger.audit(hosts, 0);
        }
        ledger.broken().forEach(line -> System.out.println("hosts: broken: " + line));
        System.out.println("hosts: faults: " + faults);
        System.out.println("hosts: restored=" + restored + " newest=" + ledger.newest());
        int count = faults.values().stream().mapToInt(Integer::intValue).sum();
        System.out.println("hosts: hosts=" + hosts + " faults=" + count + " " + ledger.figures(taken));
        return ledger.broken().isEmpty();
    }

    private void beginAll() throws IOException, InterruptedException {
        long newest = ledger.newest();
        for (int rank = 0; rank < hosts; rank++) {
            HostProcess life = new HostProcess(
                    rank,
                    ++lives,
                    before,
                    network.within(rank),
                    CheckpointAgent.class,
                    List.of(
                            Integer.toString(rank),
                            Integer.toString(hosts),
                            network.address(rank),
                            Long.toString(PEER_TIMEOUT.toMillis()),
                            folder.toString()),
                    ledger);
            begun.add(life);
            nodes[rank] = life;
        }
        for (HostProcess node : nodes) {
            node.awaitReady();
            for (int peer = 0; peer < hosts; peer++) {
                node.tell("peer", peer, network.address(peer), CheckpointAgent.PORT);
            }
        }
        for (HostProcess node : nodes) {
            node.tell("begin");
        }
        for (HostProcess node : nodes) {
            String[] said = answer(node, "begun");
            if (said != null && Long.parseLong(said[1]) != newest) {
                ledger.wrong("not from the newest: node=" + node + " from=" + said[1] + " newest=" + newest);
            }
        }
    }

    private String[] answer(HostProcess node, String word) throws InterruptedException {
        if (!ledger.await(PATIENCE_NANOS, () -> ledger.newest(node, word) != null)) {
            ledger.wrong("no answer: node=" + node + " word=" + word);
        }
        return ledger.newest(node, word);
    }

    private int[] everyone() {
        return IntStream.range(0, hosts).toArray();
    }

    private int[] allBut(int one) {
        return IntStream.range(0, hosts).filter(rank -> rank != one).toArray();
    }

    private void take(int coordinator, long millis) {
        ledger.forget(nodes[coordinator], "took");
        nodes[coordinator].tell("take", millis);
        taken++;
    }

    /// Its end by name, and what is in the folder then.
    ///
    /// @return whether it was published
    private boolean ends(int coordinator) throws IOException, InterruptedException {
        String[] said = answer(nodes[coordinator], "took");
        boolean isPublished = said != null && said[2].equals("published");
        boolean isGivenUp =
                said != null && !isPublished && !String.join(" ", said).contains("whether");
        ledger.audit(hosts, isGivenUp ? Long.parseLong(said[1]) : 0);
        return isPublished;
    }

    private String words(int coordinator) {
        String[] said = ledger.newest(nodes[coordinator], "took");
        return "coordinator=" + nodes[coordinator] + " " + (said == null ? "" : String.join(" ", said));
    }

    /// With nothing in its way it is published, however busy the machine is.
    private void whole(int coordinator) throws IOException, InterruptedException {
        take(coordinator, LONG_MILLIS);
        if (!ends(coordinator)) {
            ledger.wrong("not published, though nothing was in its way: " + words(coordinator));
        }
    }

    /// Pulled before, or meanwhile, and mended: it waits.
    private void cable(int coordinator, int other) throws IOException, InterruptedException {
        if (random.nextBoolean()) {
            take(coordinator, LONG_MILLIS);
            network.pull(other);
        } else {
            network.pull(other);
            take(coordinator, LONG_MILLIS);
        }
        TimeUnit.MILLISECONDS.sleep(random.nextLong(50, 3_000));
        network.plug(other);
        if (!ends(coordinator)) {
            ledger.wrong("not published, though the cable is mended: " + words(coordinator));
        }
    }

    /// Until one has come to the step and waits there: with more time if a busy machine was too slow.
    private void at(int coordinator, int victim, String step, long millis) throws IOException, InterruptedException {
        for (long most = millis; most <= LONG_MILLIS; most *= 4) {
            ledger.forget(nodes[victim], "at");
            nodes[victim].tell("hold", step);
            take(coordinator, most);
            ledger.await(
                    PATIENCE_NANOS,
                    () -> ledger.newest(nodes[victim], "at") != null
                            || ledger.newest(nodes[coordinator], "took") != null);
            if (ledger.newest(nodes[victim], "at") != null) {
                return;
            }
            ends(coordinator);
        }
        ledger.wrong("does not come to a step: node=" + nodes[victim] + " step=" + step + " " + words(coordinator));
    }

    /// The others send meanwhile what is behind their cuts and before this one's. One whose handler goes on sends
    /// what is before its cut and behind theirs.
    private void slow(int coordinator, int victim, String step) throws IOException, InterruptedException {
        at(coordinator, victim, step, LONG_MILLIS);
        TimeUnit.MILLISECONDS.sleep(random.nextLong(100, 1_000));
        nodes[victim].tell("release");
        if (!ends(coordinator)) {
            ledger.wrong("not published, though no node is away: " + words(coordinator));
        }
        restoreAll();
    }

    /// The others go on while the host is silent, and it ends by name on that one too.
    private void silent(int coordinator, int victim, String step) throws IOException, InterruptedException {
        at(coordinator, victim, step, SHORT_MILLIS);
        network.pull(victim);
        nodes[victim].tell("release");
        ends(coordinator);
        // what its words were about is over at the others too, by their own deadline
        goesOn(allBut(victim), "beside the silent one");
        network.plug(victim);
        goesOn(everyone(), "after the silence");
        // and the next one is taken, by any node
        whole(victim == coordinator ? (coordinator + 1) % hosts : coordinator);
    }

    private void killed(int coordinator, int victim, String step) throws IOException, InterruptedException {
        at(coordinator, victim, step, SHORT_MILLIS);
        nodes[victim].kill();
        goesOn(allBut(victim), "beside the killed one");
        if (victim == coordinator) {
            ledger.audit(hosts, 0);
        } else {
            ends(coordinator);
        }
        restoreAll();
    }

    private void restoreAll() throws IOException, InterruptedException {
        for (HostProcess node : nodes) {
            node.kill();
        }
        begun.clear();
        restored++;
        beginAll();
    }

    /// New numbers come from each to each.
    private void goesOn(int[] ranks, String when) throws InterruptedException {
        long[][] start = new long[hosts][];
        for (int rank : ranks) {
            figures(rank);
            start[rank] = ledger.received(nodes[rank], hosts);
        }
        long end = System.nanoTime() + PATIENCE_NANOS;
        for (int rank : ranks) {
            while (!isBeyond(rank, ranks, start[rank])) {
                if (System.nanoTime() > end) {
                    ledger.wrong("does not go on: node=" + nodes[rank] + " " + when);
                    return;
                }
                TimeUnit.MILLISECONDS.sleep(20);
                figures(rank);
            }
        }
    }

    private void figures(int rank) throws InterruptedException {
        ledger.forget(nodes[rank], "figures");
        nodes[rank].tell("figures");
        answer(nodes[rank], "figures");
    }

    private boolean isBeyond(int rank, int[] ranks, long[] start) {
        long[] now = ledger.received(nodes[rank], hosts);
        return IntStream.of(ranks).allMatch(peer -> peer == rank || now[peer] > start[peer] + 2);
    }

    private void leaveAll() throws InterruptedException {
        for (HostProcess node : nodes) {
            node.leave();
        }
        for (HostProcess node : nodes) {
            if (!node.awaitEnd()) {
                ledger.wrong("a node does not end: node=" + node);
            } else {
                answer(node, "ended");
            }
        }
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (HostProcess node : begun) {
            try {
                node.kill();
            } catch (InterruptedException hurry) {
                Thread.currentThread().interrupt();
            }
        }
        begun.clear();
        network.close();
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException | UncheckedIOException stays) {
            System.err.println("hosts: a folder stays: " + stays.getMessage());
        }
    }
}
