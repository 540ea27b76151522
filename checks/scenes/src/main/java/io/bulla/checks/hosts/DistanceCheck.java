// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/// What nodes reach over a distance, beside bare sockets in the same place: a broadcast to one host and to all, a
/// flow of long and one of short messages. The verdict is on bytes, order and handles; times are told.
public final class DistanceCheck implements AutoCloseable {

    private static final int[] ROUND_TRIPS = {0, 1, 20, 100};
    private static final int MIB = 1 << 20;
    private static final int LONG_BYTES = MIB;
    private static final int SHORT_BYTES = 100;
    private static final int SHORT_COUNT = 100_000;
    private static final int PINGS = 10;
    private static final long PATIENCE_SECONDS = 180;
    private static final double MILLION = 1e6;
    private static final double NANOS = 1e9;

    /// Seconds of one kind of transfer, a figure for each round.
    private static final class Times {

        private final List<Double> all = new ArrayList<>();

        void add(double seconds) {
            all.add(seconds);
        }

        double median() {
            return median(all.stream().mapToDouble(each -> each));
        }

        /// How often the other takes what this takes, round by round.
        double ratioTo(Times other) {
            return median(IntStream.range(0, all.size()).mapToDouble(i -> all.get(i) / other.all.get(i)));
        }

        private static double median(java.util.stream.DoubleStream figures) {
            double[] sorted = figures.sorted().toArray();
            return sorted[sorted.length / 2];
        }
    }

    /// A line of an agent's.
    private record Said(int rank, String[] words) {}

    private final int hosts;
    private final int rounds;
    private final int megabytes;
    private final int loss;
    private final FarNetwork network;
    private final List<HostProcess> agents = new ArrayList<>();
    private final BlockingQueue<Said> heard = new LinkedBlockingQueue<>();
    private final List<String> broken = new ArrayList<>();

    /// @param loss of how many packets in a hundred are lost, in either direction
    private DistanceCheck(int hosts, int rounds, int megabytes, int loss, long window, long buffers)
            throws IOException, InterruptedException {
        this.hosts = hosts;
        this.rounds = rounds;
        this.megabytes = megabytes;
        this.loss = loss;
        this.network = new FarNetwork(hosts, buffers, loss > 0);
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
        for (int rank = 0; rank < hosts; rank++) {
            List<String> arguments = new ArrayList<>(List.of(Integer.toString(rank), Long.toString(window)));
            IntStream.range(0, hosts).mapToObj(network::address).forEach(arguments::add);
            agents.add(new HostProcess(rank, network.within(rank), arguments, this::said));
        }
        for (HostProcess agent : agents) {
            agent.awaitReady();
        }
    }

    private void said(Life by, long nanos, String[] words) {
        heard.add(new Said(by.rank(), words));
    }

    /// @param arguments as `./check hosts --distance` has them
    public static void main(String[] arguments) throws Exception {
        int to = 8;
        int rounds = 3;
        int megabytes = 64;
        int loss = 0;
        long window = 0;
        long buffers = 0;
        int[] roundTrips = ROUND_TRIPS;
        for (int i = 0; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "--hosts" -> to = Integer.parseInt(arguments[++i]);
                case "--rounds" -> rounds = Integer.parseInt(arguments[++i]);
                case "--megabytes" -> megabytes = Integer.parseInt(arguments[++i]);
                case "--loss" -> loss = Integer.parseInt(arguments[++i]);
                case "--window" -> window = Long.parseLong(arguments[++i]) * MIB;
                case "--buffers" -> buffers = Long.parseLong(arguments[++i]) * MIB;
                case "--millis" ->
                    roundTrips = Arrays.stream(arguments[++i].split(","))
                            .mapToInt(Integer::parseInt)
                            .toArray();
                default -> {
                    System.err.println("distance: unknown option: " + arguments[i]
                            + " (--hosts, --rounds, --megabytes, --loss, --window, --buffers, --millis)");
                    System.exit(2);
                }
            }
        }
        boolean sound;
        try (DistanceCheck check = new DistanceCheck(1 + to, rounds, megabytes, loss, window, buffers)) {
            System.out.printf(
                    "distance: hosts=%d rounds=%d megabytes=%d loss=%d%% window=%s buffers=%s%n",
                    to,
                    rounds,
                    megabytes,
                    loss,
                    window == 0 ? "default" : Long.toString(window),
                    buffers == 0 ? "default" : Long.toString(buffers));
            try {
                for (int millis : roundTrips) {
                    check.over(millis);
                }
            } catch (IOException wrong) {
                check.broken.add(wrong.getMessage());
            }
            sound = check.broken.isEmpty();
            check.broken.forEach(line -> System.out.println("distance: broken: " + line));
            System.out.println("distance: hosts=" + to + " round-trips=" + Arrays.toString(roundTrips) + " wrong="
                    + check.broken.size());
        }
        System.exit(sound ? 0 : 1);
    }

    /// @param millis of a round trip; each frame is held half of it, in each direction
    private void over(int millis) throws IOException, InterruptedException {
        network.relay().path(millis * 500L, 0, loss);
        network.relay().figures();
        Times bare = new Times();
        Times one = new Times();
        Times bareAll = new Times();
        Times all = new Times();
        Times longs = new Times();
        Times grpcLongs = new Times();
        Times grpcShorts = new Times();
        Times bareShort = new Times();
        Times shorts = new Times();
        int bytes = megabytes * MIB;
        String everyone = String.join(
                " ", IntStream.range(1, hosts).mapToObj(Integer::toString).toList());
        begin(hosts);
        double shortest = shortestRoundTrip();
        if (shortest < millis / 1e3) {
            broken.add("the relay does not hold frames: round-trip=" + millis + "ms seen-millis=" + shortest * 1e3);
        }
        for (int round = 0; round < rounds; round++) {
            bare.add(took("bare", 1, bytes, 1));
            one.add(flow(1, bytes));
            longs.add(flow(megabytes * MIB / LONG_BYTES, LONG_BYTES));
            grpcLongs.add(took("grpc", megabytes * MIB / LONG_BYTES, LONG_BYTES, 1));
            bareShort.add(took("bare", SHORT_COUNT, SHORT_BYTES, 1));
            shorts.add(flow(SHORT_COUNT, SHORT_BYTES));
            grpcShorts.add(took("grpc", SHORT_COUNT, SHORT_BYTES, 1));
            bareAll.add(took("bare", 1, bytes, everyone));
            all.add(cast(bytes));
        }
        end();
        RelayProcess.Figures relay = network.relay().figures();
        if (loss > 0 && relay.lost() == 0) {
            broken.add("the relay loses nothing: wanted=" + loss + "% frames=" + relay.frames());
        }
        double most = bytes / MILLION;
        line(millis, "bare TCP, one stream", bare, most, "MB/s", bare, "");
        line(millis, "one message of " + megabytes + " MiB", one, most, "MB/s", bare, "bare TCP");
        line(millis, megabytes + " messages of 1 MiB", longs, most, "MB/s", bare, "bare TCP");
        line(millis, "the same by gRPC", grpcLongs, most, "MB/s", bare, "bare TCP");
        line(millis, "bare TCP to each of " + (hosts - 1), bareAll, most * (hosts - 1), "MB/s", bareAll, "");
        line(millis, "broadcast to " + (hosts - 1), all, most * (hosts - 1), "MB/s", bareAll, "bare TCP to each");
        System.out.printf(
                Locale.ROOT, "distance: round-trip=%dms broadcast of one send's time=%.2f%n", millis, all.ratioTo(one));
        double thousands = SHORT_COUNT / 1e3;
        line(millis, "bare TCP, messages of 100 B", bareShort, thousands, "k/s", bareShort, "");
        line(millis, "messages of 100 B", shorts, thousands, "k/s", bareShort, "bare TCP");
        line(millis, "the same by gRPC", grpcShorts, thousands, "k/s", bareShort, "bare TCP");
        System.out.printf(
                Locale.ROOT,
                "distance: round-trip=%dms relay: seen-millis=%.1f frames=%d megabytes=%.0f dropped=%d overtaken=%d"
                        + " latest-millis=%.1f lost=%d%n",
                millis,
                shortest * 1e3,
                relay.frames(),
                relay.bytes() / MILLION,
                relay.dropped(),
                relay.overtaken(),
                relay.latestMicros() / 1e3,
                relay.lost());
    }

    /// Of a few, on a connection that is open: no machine is so busy that they take less than the relay holds them.
    private double shortestRoundTrip() throws InterruptedException, IOException {
        double shortest = Double.MAX_VALUE;
        for (int i = 0; i < PINGS; i++) {
            shortest = Math.min(shortest, took("bare", 1, BareTcp.PING, 1));
        }
        return shortest;
    }

    private static void line(
            int millis, String what, Times times, double amount, String unit, Times beside, String name) {
        System.out.printf(
                Locale.ROOT,
                "distance: round-trip=%-6s %-28s %7.3f s %8.1f %-4s %s%n",
                millis + "ms",
                what,
                times.median(),
                amount / times.median(),
                unit,
                name.isEmpty() ? "" : String.format(Locale.ROOT, "%.2f of %s", beside.ratioTo(times), name));
    }

    private void begin(int nodes) throws InterruptedException, IOException {
        agents.forEach(agent -> agent.tell("begin"));
        await("begun", nodes);
        // each connection that is used has its hello behind it
        cast(SHORT_BYTES);
    }

    private double cast(int bytes) throws InterruptedException, IOException {
        agents.getFirst().tell("cast", bytes);
        double seconds = 0;
        for (Said each : await(List.of("took", "got"), hosts)) {
            if (each.words()[0].equals("took")) {
                seconds = Long.parseLong(each.words()[1]) / NANOS;
            }
        }
        return seconds;
    }

    private double flow(int count, int bytes) throws InterruptedException, IOException {
        agents.get(1).tell("expect", count);
        await("expecting", 1);
        agents.getFirst().tell("flow", 1, count, bytes);
        double seconds = 0;
        for (Said each : await(List.of("took", "got"), 2)) {
            if (each.words()[0].equals("took")) {
                seconds = Long.parseLong(each.words()[1]) / NANOS;
            }
        }
        return seconds;
    }

    private double took(Object... words) throws InterruptedException, IOException {
        agents.getFirst().tell(words);
        return Long.parseLong(await("took", 1).getFirst().words()[1]) / NANOS;
    }

    private void end() throws InterruptedException, IOException {
        agents.forEach(agent -> agent.tell("end"));
        for (Said each : await("ended", hosts)) {
            if (!each.words()[1].equals("0") || !each.words()[2].equals("0")) {
                broken.add("not given back: rank=" + each.rank() + " handles=" + each.words()[1] + " bytes="
                        + each.words()[2]);
            }
        }
    }

    private List<Said> await(String word, int count) throws InterruptedException, IOException {
        return await(List.of(word), count);
    }

    /// What is wrong ends the check: the next answers would not be those of the next questions.
    private List<Said> await(List<String> words, int count) throws InterruptedException, IOException {
        List<Said> all = new ArrayList<>();
        while (all.size() < count) {
            Said next = heard.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (next != null && next.words()[0].equals("lost") && words.contains("ended")) {
                // one that has ended before
                continue;
            }
            if (next == null || !words.contains(next.words()[0])) {
                throw new IOException("not what is waited for: words=" + words + " said="
                        + (next == null ? "nothing" : next.rank() + " " + String.join(" ", next.words())));
            }
            all.add(next);
        }
        return all;
    }

    /// Also at the end of the process, however it comes.
    @Override
    public synchronized void close() {
        for (HostProcess agent : agents) {
            try {
                agent.kill();
            } catch (InterruptedException hurry) {
                Thread.currentThread().interrupt();
            }
        }
        agents.clear();
        network.close();
    }
}
