// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

import io.bulla.bench.numbers.Medians;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// One message to many processes, JVMs that sleep in the kernel until it is there, until each has looked at it.
///
/// Arguments: processes; then what is measured, in the same processes: `slab`, `seal`, `bytes` or `there`, the
/// message's bytes, and `ends` for a look at its first and last word or `all`, joined by dashes. Prints a line for
/// each: the median of the nanoseconds from the first hand-over to the last look.
///
/// Rounds of one kind come five at a time, behind three that are not measured, and the kinds take turns.
public final class SharedFanOut {

    private static final int BLOCKS = 3;
    private static final int UNMEASURED = 3;
    private static final int ROUNDS = UNMEASURED + 5;
    private static final int REST_MILLIS = 5;
    private static final int PAUSE_NANOS = 1_000_000;
    private static final String SOCKET = "socket";
    /// As many as it takes until the first compiler has compiled what receivers do, and the second one what the
    /// sender does: with 300 of both, 16 receivers took 2.6 times as long.
    private static final int PRACTICE = 3_000;

    private static final int SENDERS_PRACTICE = 20_000;

    /// What is measured.
    record Kind(Way way, Look look) {

        static Kind of(String name) {
            String[] words = name.split("-");
            return new Kind(
                    Way.valueOf(words[0].toUpperCase(Locale.ROOT)),
                    Look.of(Integer.parseInt(words[1]), words[2].equals("all")));
        }
    }

    private final int processes;
    private final List<Kind> kinds;
    private final Board board;
    private final Giving giving;
    private final List<Process> receivers = new ArrayList<>();

    private SharedFanOut(int processes, List<Kind> kinds, Board board, Giving giving) {
        this.processes = processes;
        this.kinds = kinds;
        this.board = board;
        this.giving = giving;
    }

    /// @throws Exception if a process ends
    public static void main(String... args) throws Exception {
        int processes = Integer.parseInt(args[0]);
        List<String> names = List.of(args).subList(1, args.length);
        List<Kind> kinds = names.stream().map(Kind::of).toList();
        try (Folder folder = Folder.create();
                Giving giving = new Giving(folder.path(), SOCKET, processes)) {
            SharedFanOut run = new SharedFanOut(processes, kinds, Board.open(folder.board()), giving);
            try {
                run.start(folder, names);
                double[][] nanos = run.measure();
                for (int i = 0; i < nanos.length; i++) {
                    System.out.printf(Locale.ROOT, "%s ns=%.0f%n", names.get(i), Medians.of(nanos[i]));
                }
            } finally {
                run.end();
            }
        }
    }

    private void start(Folder folder, List<String> names) throws IOException, InterruptedException {
        for (Kind kind : kinds) {
            giving.prepare(kind.look());
        }
        for (int i = 0; i < processes; i++) {
            List<String> arguments = new ArrayList<>(
                    List.of(folder.path().toString(), giving.lender().toString(), Integer.toString(i)));
            arguments.addAll(names);
            receivers.add(JavaProcess.start(JavaProcess.SMALL, Receiver.class, arguments.toArray(String[]::new)));
        }
        Receiver.practise(folder.path(), processes, SENDERS_PRACTICE);
        giving.awaitAll();
    }

    private double[][] measure() throws IOException, InterruptedException {
        double[][] nanos = new double[kinds.size()][BLOCKS * (ROUNDS - UNMEASURED)];
        for (int block = 0; block < BLOCKS; block++) {
            for (int kind = 0; kind < kinds.size(); kind++) {
                for (int round = 0; round < ROUNDS; round++) {
                    double one = round(kinds.get(kind));
                    if (round >= UNMEASURED) {
                        nanos[kind][block * (ROUNDS - UNMEASURED) + round - UNMEASURED] = one;
                    }
                }
            }
        }
        return nanos;
    }

    private double round(Kind kind) throws IOException, InterruptedException {
        for (int i = 0; i < processes; i++) {
            board.set(i, 0);
        }
        // all of them sleep again
        Thread.sleep(REST_MILLIS);
        long start = System.nanoTime();
        for (int i = 0; i < processes; i++) {
            giving.give(kind.way(), kind.look(), i);
        }
        long last = start;
        for (int i = 0; i < processes; i++) {
            board.await(i, 1, PAUSE_NANOS, receivers.get(i));
            last = Math.max(last, board.get(i));
        }
        return last - start;
    }

    private void end() throws InterruptedException {
        for (Process each : receivers) {
            each.destroyForcibly().waitFor();
        }
    }

    /// The program of a receiver.
    static final class Receiver {

        private Receiver() {}

        public static void main(String... args) throws Exception {
            JavaProcess.endWithInput();
            Path folder = Path.of(args[0]);
            int index = Integer.parseInt(args[2]);
            List<Kind> kinds = Arrays.stream(args).skip(3).map(Kind::of).toList();
            Board board = Board.open(new Folder(folder).board());
            practise(folder, index, PRACTICE);
            try (Taking taking = new Taking(folder.resolve(SOCKET), Path.of(args[1]), index)) {
                for (int block = 0; block < BLOCKS; block++) {
                    for (Kind kind : kinds) {
                        for (int round = 0; round < ROUNDS; round++) {
                            taking.take(kind.way(), kind.look(), () -> board.set(index, System.nanoTime()));
                        }
                    }
                }
                // until the other side has measured the last one
                Thread.sleep(Long.MAX_VALUE);
            }
        }

        /// Hands messages over to itself, so that no code that is still interpreted is measured.
        static void practise(Path folder, int index, int times) throws IOException, InterruptedException {
            Look look = Look.of(Long.BYTES * 8, false);
            String name = "practice-" + index;
            try (Giving giving = new Giving(folder, name, 1)) {
                giving.prepare(look);
                try (Taking taking = new Taking(folder.resolve(name), giving.lender(), 0)) {
                    giving.awaitAll();
                    for (int i = 0; i < times; i++) {
                        for (Way way : Way.values()) {
                            giving.give(way, look, 0);
                            taking.take(way, look, () -> {});
                        }
                    }
                }
            }
        }
    }
}
