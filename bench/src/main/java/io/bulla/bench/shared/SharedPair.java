// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

import io.bulla.bench.numbers.Medians;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/// Messages between two JVMs, of which each sleeps in the kernel until one is there: there and back, or one way as
/// fast as they go.
///
/// Arguments: `round-trip` or `one-way`; `slab`, `seal` or `bytes`; the message's bytes. Prints nanoseconds for a
/// message, the median of the windows. Each receiver looks at the first and the last word.
public final class SharedPair {

    static final int WINDOWS = 7;
    static final long WARM_UP_NANOS = 1_500_000_000L;
    static final long WINDOW_NANOS = 150_000_000;
    private static final int PAUSE_NANOS = 50_000;
    private static final int RECEIVER = 1;
    private static final int LISTENS = 1;
    private static final int READY = 2;

    private SharedPair() {}

    /// @throws Exception if the other process ends
    public static void main(String... args) throws Exception {
        boolean there = args[0].equals("round-trip");
        Way way = Way.valueOf(args[1].toUpperCase(Locale.ROOT));
        Look look = Look.of(Integer.parseInt(args[2]), false);
        if (args.length > 3) {
            JavaProcess.endWithInput();
            echo(Path.of(args[3]), way, look, there);
            return;
        }
        try (Folder folder = Folder.create();
                Giving giving = new Giving(folder.path(), "sender", 1)) {
            Files.writeString(
                    folder.path().resolve("sender-lends"), giving.lender().toString());
            Process other = JavaProcess.start(
                    List.of(),
                    SharedPair.class,
                    args[0],
                    args[1],
                    args[2],
                    folder.path().toString());
            try {
                giving.prepare(look);
                giving.awaitAll();
                Board board = Board.open(folder.board());
                System.out.println(
                        there
                                ? roundTrips(folder.path(), giving, way, look, board, other)
                                : oneWay(new Sender(giving, way, look, board, other)));
            } finally {
                other.destroyForcibly().waitFor();
            }
        }
    }

    private static double roundTrips(Path folder, Giving giving, Way way, Look look, Board board, Process other)
            throws Exception {
        double[] nanos = new double[WINDOWS];
        board.await(RECEIVER, LISTENS, PAUSE_NANOS, other);
        try (Taking taking = taking(folder, "receiver")) {
            board.await(RECEIVER, READY, PAUSE_NANOS, other);
            trips(giving, taking, way, look, WARM_UP_NANOS);
            for (int i = 0; i < WINDOWS; i++) {
                nanos[i] = trips(giving, taking, way, look, WINDOW_NANOS);
            }
        }
        return Medians.of(nanos);
    }

    private static double oneWay(Sender sender) throws Exception {
        double[] nanos = new double[WINDOWS];
        sender.window(WARM_UP_NANOS);
        for (int i = 0; i < WINDOWS; i++) {
            nanos[i] = sender.window(WINDOW_NANOS);
        }
        return Medians.of(nanos);
    }

    private static Taking taking(Path folder, String from) throws Exception {
        return new Taking(folder.resolve(from), Path.of(Files.readString(folder.resolve(from + "-lends"))), 0);
    }

    private static double trips(Giving giving, Taking taking, Way way, Look look, long nanos) throws Exception {
        long start = System.nanoTime();
        long trips = 0;
        long now;
        do {
            giving.give(way, look, 0);
            taking.take(way, look, () -> {});
            trips++;
            now = System.nanoTime();
        } while (now - start < nanos);
        return (double) (now - start) / trips;
    }

    /// The other process.
    private static void echo(Path folder, Way way, Look look, boolean there) throws Exception {
        Board board = Board.open(new Folder(folder).board());
        try (Taking taking = taking(folder, "sender")) {
            if (!there) {
                long[] taken = new long[1];
                while (true) {
                    taking.take(way, look, () -> board.set(RECEIVER, ++taken[0]));
                }
            }
            try (Giving giving = new Giving(folder, "receiver", 1)) {
                giving.prepare(look);
                Files.writeString(
                        folder.resolve("receiver-lends"), giving.lender().toString());
                board.set(RECEIVER, LISTENS);
                giving.awaitAll();
                board.set(RECEIVER, READY);
                while (true) {
                    taking.take(way, look, () -> {});
                    giving.give(way, look, 0);
                }
            }
        }
    }

    /// Sends as fast as it goes, and waits for the last one.
    private static final class Sender {

        private final Giving giving;
        private final Way way;
        private final Look look;
        private final Board board;
        private final Process other;
        private long sent;

        Sender(Giving giving, Way way, Look look, Board board, Process other) {
            this.giving = giving;
            this.way = way;
            this.look = look;
            this.board = board;
            this.other = other;
        }

        double window(long nanos) throws Exception {
            long before = sent;
            long start = System.nanoTime();
            do {
                giving.give(way, look, 0);
                sent++;
            } while (System.nanoTime() - start < nanos);
            board.await(RECEIVER, sent, PAUSE_NANOS, other);
            return (double) (System.nanoTime() - start) / (sent - before);
        }
    }
}
