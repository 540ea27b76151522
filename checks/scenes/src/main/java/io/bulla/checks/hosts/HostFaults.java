// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/// Faults, one after the other. A short one may cost nothing: no verdict. A long one lasts until both sides have
/// judged.
final class HostFaults {

    private static final long PATIENCE = Duration.ofMinutes(2).toNanos();
    private static final int PROBE = 100;
    // in each direction
    private static final long FAR_MICROS = 100_000;
    private static final long NEAR_MICROS = 5_000;

    @FunctionalInterface
    private interface Step {
        void run() throws IOException, InterruptedException;
    }

    @FunctionalInterface
    private interface Fault {
        void run(int host, int other) throws IOException, InterruptedException;
    }

    private record Named(String name, Fault fault) {}

    private final HostsCheck check;
    private final SplittableRandom random;
    private final long timeout;
    private final List<Named> all = new ArrayList<>();
    private final List<Named> round = new ArrayList<>();

    /// @param only names of the kinds, or none for all
    /// @throws IllegalArgumentException if one is not there
    HostFaults(HostsCheck check, List<String> only) {
        this.check = check;
        this.random = check.random.split();
        this.timeout = check.timeout.toNanos();
        Network network = check.network;
        add(
                "pulled-shortly",
                (host, other) -> shortly(host, Cuts.ALL, () -> network.pull(host), () -> network.plug(host)));
        add(
                "pulled",
                (host, other) ->
                        untilJudged(host, other, host, Cuts.ALL, () -> network.pull(host), () -> network.plug(host)));
        add(
                "deaf-shortly",
                (host, other) ->
                        shortly(host, other, () -> network.deafen(host, other), () -> network.hear(host, other)));
        add(
                "deaf",
                (host, other) -> untilJudged(
                        host, other, host, other, () -> network.deafen(host, other), () -> network.hear(host, other)));
        add(
                "pair-silent",
                (host, other) ->
                        untilJudged(host, other, host, other, () -> silence(host, other), () -> talk(host, other)));
        add("halves", this::halves);
        add("killed", (host, other) -> kill(host, false));
        add("killed-and-moved", (host, other) -> kill(host, true));
        add("left", this::left);
        add(
                "stopped-shortly",
                (host, other) -> shortly(host, Cuts.ALL, check.node(host)::stop, check.node(host)::goOn));
        add("stopped", this::stopped);
        add("narrow", (host, other) -> harmless(host, () -> network.narrow(host, 600), () -> network.widen(host)));
        String without = network.withoutFirewall();
        if (without == null) {
            add(
                    "loss-of-5",
                    (host, other) -> harmless(host, () -> network.lose(host, 5), () -> network.noFilter(host)));
            add(
                    "loss-of-20",
                    (host, other) -> harmless(host, () -> network.lose(host, 20), () -> network.noFilter(host)));
            add(
                    "reset-at-times",
                    (host, other) -> harmless(host, () -> network.reset(host, 50), () -> network.noFilter(host)));
            add(
                    "reset-shortly",
                    (host, other) ->
                            shortly(host, Cuts.ALL, () -> network.reset(host, 1), () -> network.noFilter(host)));
        } else {
            System.out.println("hosts: skipped: loss and resets: " + without + "; apt-get install nftables");
        }
        without = network.withoutRelay();
        if (without == null) {
            add(
                    "far",
                    (host, other) -> harmless(host, () -> network.away(host, FAR_MICROS, 0), () -> network.back(host)));
            add(
                    "reordered",
                    (host, other) ->
                            harmless(host, () -> network.away(host, NEAR_MICROS, 20), () -> network.back(host)));
        } else {
            System.out.println("hosts: skipped: delay and reordering: " + without);
        }
        for (String name : only) {
            if (all.stream().noneMatch(each -> each.name().equals(name))) {
                throw new IllegalArgumentException("no such fault: name=" + name + " there are: "
                        + all.stream().map(Named::name).toList());
            }
        }
        all.removeIf(each -> !only.isEmpty() && !only.contains(each.name()));
    }

    private void add(String name, Fault fault) {
        all.add(new Named(name, fault));
    }

    /// Each talks to each other one, before anything fails: code that runs first takes its time.
    void warmUp() throws InterruptedException {
        for (int from = 0; from < check.hosts; from++) {
            for (int to = 0; to < check.hosts; to++) {
                if (from != to) {
                    talksAgain(from, to);
                }
            }
        }
    }

    /// Each kind once, in an order by chance, then again.
    ///
    /// @return its name
    String next() throws IOException, InterruptedException {
        if (round.isEmpty()) {
            round.addAll(all);
        }
        Named next = round.remove(random.nextInt(round.size()));
        int host = random.nextInt(check.hosts);
        int other = (host + 1 + random.nextInt(check.hosts - 1)) % check.hosts;
        next.fault().run(host, other);
        talksAgain(host, other);
        talksAgain(other, host);
        return next.name();
    }

    private void shortly(int host, int other, Step fault, Step mend) throws IOException, InterruptedException {
        lasting(host, other, fault, mend, () -> TimeUnit.NANOSECONDS.sleep(random.nextLong(timeout / 8, timeout / 2)));
    }

    /// The two hosts can be reached all the time.
    private void harmless(int host, Step fault, Step mend) throws IOException, InterruptedException {
        fault.run();
        TimeUnit.NANOSECONDS.sleep(random.nextLong(timeout / 4, timeout));
        mend.run();
    }

    private void lasting(int host, int other, Step fault, Step mend, Step meanwhile)
            throws IOException, InterruptedException {
        int cut = check.cuts.begin(host, other, System.nanoTime());
        fault.run();
        meanwhile.run();
        mend.run();
        check.cuts.end(cut, System.nanoTime());
    }

    /// Both of a pair have something to say to each other, so both have to notice.
    private void untilJudged(int one, int two, int host, int other, Step fault, Step mend)
            throws IOException, InterruptedException {
        talksAgain(one, two);
        talksAgain(two, one);
        lasting(host, other, fault, mend, () -> awaitVerdicts(one, two, System.nanoTime()));
    }

    private void awaitVerdicts(int one, int two, long since) throws InterruptedException {
        HostProcess first = check.node(one);
        HostProcess second = check.node(two);
        check.send(one, two, PROBE);
        check.send(two, one, PROBE);
        HostLedger ledger = check.ledger;
        if (!ledger.await(PATIENCE, () -> ledger.isJudged(first, two, since) && ledger.isJudged(second, one, since))) {
            ledger.wrong("silence is not noticed: node=" + first + " judged=" + ledger.isJudged(first, two, since)
                    + " node=" + second + " judged=" + ledger.isJudged(second, one, since));
            return;
        }
        check.took("until the verdict", ledger.judgedAt(first, two, since) - since);
        check.took("until the verdict", ledger.judgedAt(second, one, since) - since);
    }

    private void silence(int one, int two) throws IOException {
        check.network.deafen(one, two);
        check.network.deafen(two, one);
    }

    private void talk(int one, int two) throws IOException {
        check.network.hear(one, two);
        check.network.hear(two, one);
    }

    /// Those below a host, and the others.
    private void halves(int host, int other) throws IOException, InterruptedException {
        int border = Math.max(host, other);
        int one = Math.min(host, other);
        List<Integer> open = new ArrayList<>();
        talksAgain(one, border);
        talksAgain(border, one);
        for (int below = 0; below < border; below++) {
            for (int above = border; above < check.hosts; above++) {
                open.add(check.cuts.begin(below, above, System.nanoTime()));
                silence(below, above);
            }
        }
        awaitVerdicts(one, border, System.nanoTime());
        for (int below = 0; below < border; below++) {
            for (int above = border; above < check.hosts; above++) {
                talk(below, above);
            }
        }
        open.forEach(cut -> check.cuts.end(cut, System.nanoTime()));
    }

    private void kill(int host, boolean moves) throws IOException, InterruptedException {
        check.node(host).kill();
        TimeUnit.NANOSECONDS.sleep(random.nextLong(timeout / 2));
        if (moves) {
            check.network.move(host);
        }
        check.begin(host).awaitReady();
        check.announce(host);
    }

    /// One that says goodbye is believed, without a wait.
    private void left(int host, int other) throws IOException, InterruptedException {
        talksAgain(host, other);
        talksAgain(other, host);
        HostProcess judge = check.node(other);
        long since = System.nanoTime();
        HostProcess leaving = check.node(host);
        leaving.leave();
        HostLedger ledger = check.ledger;
        if (!leaving.awaitEnd()) {
            ledger.wrong("a node does not end: node=" + leaving);
        }
        boolean believed = ledger.await(PATIENCE, () -> ledger.isJudged(judge, host, since))
                && (ledger.isSaid(judge, host, since, "it has closed")
                        || ledger.isSaid(judge, host, since, "it is closing"));
        // one that got no processor may have missed it
        if (!believed && check.cuts.nanos(other, host, since - timeout, System.nanoTime()) == 0) {
            ledger.wrong("a goodbye is not believed: judge=" + judge + " peer=" + leaving + " said="
                    + ledger.saidOf(judge, host, since));
        }
        check.begin(host).awaitReady();
        check.announce(host);
    }

    /// Until a peer has judged it.
    private void stopped(int host, int other) throws IOException, InterruptedException {
        talksAgain(other, host);
        HostProcess judge = check.node(other);
        lasting(host, Cuts.ALL, check.node(host)::stop, check.node(host)::goOn, () -> {
            long since = System.nanoTime();
            check.send(other, host, PROBE);
            if (!check.ledger.await(PATIENCE, () -> check.ledger.isJudged(judge, host, since))) {
                check.ledger.wrong("a stopped process is not noticed: judge=" + judge + " peer=" + host);
            }
        });
    }

    /// A message gets through, after some that a verdict of before may end.
    private void talksAgain(int from, int to) throws InterruptedException {
        long since = System.nanoTime();
        long end = since + PATIENCE;
        while (System.nanoTime() < end) {
            int id = check.send(from, to, PROBE);
            check.ledger.await(end - System.nanoTime(), () -> check.ledger.hasOutcome(id));
            if (check.ledger.isDone(id)) {
                check.took("until a message gets through", System.nanoTime() - since);
                return;
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
        check.ledger.wrong("nothing gets through: from=" + check.node(from) + " to=" + check.node(to));
    }
}
