// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.checks.sim.node.Simulation;
import io.bulla.checks.sim.schedule.Line;
import io.bulla.checks.sim.schedule.Schedule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// A few schedules of `./check sim`, which runs many; and that the simulator does what it is for.
class SimTest {

    private static final int SEEDS = 25;

    @Test
    void schedulesThatOnceFoundAFaultFindNone() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("schedules"))) {
            List<Path> kept = files.sorted().toList();
            assertTrue(!kept.isEmpty());
            for (Path file : kept) {
                assertNull(Runs.of(Schedule.parse(Files.readString(file))).violation(), file.toString());
            }
        }
    }

    @Test
    void drawnSchedulesBreakNoRule() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            assertNull(Runs.of(Draw.schedule(seed)).violation(), "seed=" + seed + ", see ./check sim --replay");
        }
    }

    /// A pair that is cut off at 0.2 s, of nodes with a peer timeout of one second.
    @Test
    void silenceIsNoticedAfterThePeerTimeout() throws IOException {
        Pattern verdict = Pattern.compile("([0-9.]+) log rank=(\\d) peer (\\d) failed: no connection.*");
        Map<String, Double> first = new HashMap<>();
        Runs.of(
                Schedule.parse(
                        Files.readString(Path.of("schedules", "half-a-cable-and-a-pair-that-is-silent.schedule"))),
                line -> {
                    Matcher said = verdict.matcher(line);
                    if (said.matches()) {
                        first.putIfAbsent(said.group(2) + " on " + said.group(3), Double.parseDouble(said.group(1)));
                    }
                });
        for (String pair : List.of("1 on 3", "3 on 1")) {
            double after = first.get(pair) - 0.2;
            assertTrue(after > 0.7 && after < 1.1, pair + ": " + after);
        }
    }

    /// Two peers send without a pause to a node while it closes, at another moment each time.
    @Test
    void goodbyeIsHeardByPeersThatSend() {
        for (int close = 0; close < 40; close++) {
            StringBuilder lines = new StringBuilder();
            for (int i = 0; i < 120; i++) {
                int peer = i % 2 * 2;
                lines.append(String.format("0.%06d send %d 1 bytes=900 id=%d tag=1%n", 50_000 + 25 * i, peer, i + 1));
            }
            lines.append(String.format("0.%06d close 1 drain=0 restart=0%n", 52_000 + 7 * close));
            assertEquals(Map.of(0, "it has closed", 2, "it has closed"), firstVerdicts(3, 1_000_000, lines.toString()));
        }
    }

    /// A node stands still for 0.93 s, was heard 0.18 s before, and answers the attempt in which a second ends.
    @Test
    void peerThatAnswersTheLastAttemptIsNotGivenUp() {
        String lines = "0.020000 send 0 1 bytes=900 id=1 tag=1\n0.200000 pause 1 for=%d\n"
                + "0.250000 send 0 1 bytes=900 id=2 tag=1\n";
        assertEquals(Map.of(), firstVerdicts(2, 150_000, String.format(lines, 930_000)));
        assertEquals(
                Set.of(0),
                firstVerdicts(2, 150_000, String.format(lines, 980_000)).keySet());
    }

    /// What each node says first of rank 1, with a peer timeout of one second.
    private static Map<Integer, String> firstVerdicts(int nodes, int helloMicros, String lines) {
        Pattern verdict = Pattern.compile("[0-9.]+ log rank=(\\d) peer 1 failed: (.*)");
        String text = "seed 40\nconfig coalesce=0 copying=0 cutNames=0 delay=200 faults=4000000 fragment=1024 gentle=0"
                + " heartbeat=200000 hello=" + helloMicros + " hosts=1 intruder=0 jitter=100 keep=10000 late=0 leaves=0"
                + " lends=0 limit=65536 logThrows=0 lookup=0 lookupWrong=0 nodes=" + nodes + " peerTimeout=1000000"
                + " piece=1024 queueBytes=4194304 queueMessages=4096 radix=2 reply=1000000 slow=1000 small=65536"
                + " socket=65536 tiny=0 unclaimed=0 window=262144\n" + lines;
        Map<Integer, String> first = new HashMap<>();
        Runs.of(Schedule.parse(text), line -> {
            Matcher said = verdict.matcher(line);
            if (said.matches()) {
                first.putIfAbsent(Integer.parseInt(said.group(1)), said.group(2));
            }
        });
        return first;
    }

    @Test
    void sameScheduleIsTheSameRun() {
        for (long seed = 1; seed <= SEEDS; seed += 10) {
            Schedule schedule = Draw.schedule(seed);
            Simulation.Result first = Runs.of(schedule);
            Simulation.Result second = Runs.of(Schedule.parse(schedule.toString()));
            assertEquals(first.digest(), second.digest());
            assertEquals(first.steps(), second.steps());
        }
    }

    @Test
    void timeAndChanceAndThreadsComeFromTheSurroundingsOnly() throws IOException {
        Pattern machine =
                Pattern.compile("nanoTime|currentTimeMillis|ThreadLocalRandom|Math[.]random|Thread[.]of|Executors[.]");
        try (Stream<Path> files = Files.walk(Path.of("..", "..", "runtime", "oob", "src", "main", "java"))) {
            List<String> asking = files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> machine.matcher(code(file)).find())
                    .map(file -> file.getFileName().toString())
                    .toList();
            // the watch is the machine's own surroundings; a directory is what a program chooses: simulated nodes have
            // others of both, and their loops never end
            assertEquals(
                    Set.of("Environment.java", "WatchThread.java", "DnsDirectory.java", "LoopEnd.java"),
                    Set.copyOf(asking));
        }
    }

    @Test
    void everyMutantStillApplies() throws IOException {
        assertEquals(List.of(), Mutants.thatDoNotApply(Mutants.Suite.OOB, Path.of("..", "..")));
    }

    @Test
    void everyMutantOfCheckpointsStillApplies() throws IOException {
        assertEquals(List.of(), Mutants.thatDoNotApply(Mutants.Suite.CHECKPOINT, Path.of("..", "..")));
    }

    private static String code(Path file) {
        try {
            return Files.readString(file).replaceAll("(?m)^ *///.*$", "");
        } catch (IOException cannotRead) {
            throw new UncheckedIOException(cannotRead);
        }
    }

    @Test
    void shrinkingKeepsWhatBreaksTheRule() {
        Schedule schedule = Draw.schedule(3)
                .with(List.of(
                        Line.parse("0.1 send 0 1 id=1 tag=0 bytes=5000"),
                        Line.parse("0.2 kill 1 machine=0 restart=700000"),
                        Line.parse("0.3 send 1 0 id=2 tag=0 bytes=5000"),
                        Line.parse("0.4 cut 1 0 how=2 bytes=17")));
        Schedule shortest = new Shrink(
                        schedule,
                        candidate -> candidate.lines().stream().anyMatch(line -> line.value("bytes") > 1000)
                                        && candidate.lines().stream()
                                                .anyMatch(line -> line.what().equals("kill"))
                                ? "broken"
                                : null)
                .shortest();
        assertEquals(
                List.of("kill", "send"),
                shortest.lines().stream().map(Line::what).sorted().toList());
    }
}
