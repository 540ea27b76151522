// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.lending.SharedSlabSource;
import io.bulla.posix.lending.SlabQuota;
import io.bulla.runtime.oob.LocalMemory;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.local.SlabMemory;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.Star;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// One message of a node to nodes in other JVMs, which look at it and answer.
///
/// Arguments: processes; then what is measured, in the same processes: `slab` or `bytes`, the message's bytes, `ends`
/// or `all` for what is looked at, and `back` for answers of the same size or `few` for eight bytes, joined by
/// dashes. Prints a line for each: the median of the nanoseconds from the first send to the last answer.
///
/// Each process has a node that lends all but the short answers, and one that lends as well, but nothing of these
/// sizes. Kinds take turns.
public final class NodeFanOut {

    private static final int BLOCKS = 6;
    private static final int ROUNDS = 200;
    private static final int PRACTICE = 600;
    private static final long SECONDS = 60;
    private static final int FEW = 8;
    private static final int PAUSE_MILLIS = 5;

    /// What is measured. Its place among the arguments is its messages' tag.
    record Kind(Way way, Look look, boolean back) {

        static Kind of(String name) {
            String[] words = name.split("-");
            return new Kind(
                    Way.valueOf(words[0].toUpperCase(Locale.ROOT)),
                    Look.of(Integer.parseInt(words[1]), words[2].equals("all")),
                    words[3].equals("back"));
        }

        static List<Kind> all(List<String> names) {
            return names.stream().map(Kind::of).toList();
        }
    }

    /// Lends from another size on.
    ///
    /// @param slabs all but that
    /// @param leastBytes of a message
    private record From(SlabMemory slabs, int leastBytes) implements LocalMemory {

        @Override
        public Lender invite(int peer) {
            return slabs.invite(peer);
        }

        @Override
        public CompletionStage<Borrower> borrow(int peer, byte[] invitation) {
            return slabs.borrow(peer, invitation);
        }
    }

    /// What a process has for one way.
    private static final class Side {

        final SharedSlabSource slabs =
                SharedSlabSource.create(SlabSource.builder().budget(MemoryBudget.unlimited()));
        final Way way;
        final Path folder;
        final int rank;
        final OobNode node;

        Side(Way way, Path folder, int rank, int size) throws IOException {
            this.way = way;
            this.folder = folder;
            this.rank = rank;
            SlabMemory local = SlabMemory.open(folder, slabs, SlabQuota.standard());
            OobNodeBuilder node = OobNode.builder(rank, size)
                    .memory(slabs)
                    .localMemory(new From(local, way == Way.SLAB ? 2 * FEW : Integer.MAX_VALUE))
                    .security(Security.plaintext())
                    .routing(new Star())
                    .coalesceBelow(0)
                    .directory(this::addressOf)
                    .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            this.node = node.start();
            publish();
        }

        private Path file(int of) {
            return folder.resolve("port-" + way + "-" + of);
        }

        private void publish() throws IOException {
            Path written = folder.resolve("new-" + way + "-" + rank);
            Files.writeString(written, Integer.toString(node.address().getPort()));
            Files.move(written, file(rank), StandardCopyOption.ATOMIC_MOVE);
        }

        boolean isPublished(int of) {
            return Files.exists(file(of));
        }

        private InetSocketAddress addressOf(int peer) {
            try {
                int port = Integer.parseInt(Files.readString(file(peer)));
                return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
            } catch (IOException notYet) {
                throw new UncheckedIOException(notYet);
            }
        }

        SealedBuffer few() {
            return BufferBuilder.ofCapacity(slabs, FEW).put(new byte[FEW]).seal();
        }
    }

    private final int processes;
    private final List<Kind> kinds;
    private final Map<Way, Side> sides = new EnumMap<>(Way.class);
    private final List<SealedBuffer> messages = new ArrayList<>();
    private final List<Process> receivers = new ArrayList<>();
    // set before a round begins, which the handlers see through its messages
    private volatile CountDownLatch answers = new CountDownLatch(0);

    private NodeFanOut(int processes, List<Kind> kinds) {
        this.processes = processes;
        this.kinds = kinds;
    }

    /// @throws Exception if a process ends
    public static void main(String... args) throws Exception {
        int processes = Integer.parseInt(args[0]);
        List<String> names = List.of(args).subList(1, args.length);
        NodeFanOut run = new NodeFanOut(processes, Kind.all(names));
        try (Folder folder = Folder.create()) {
            try {
                run.start(folder.path(), names);
                double[][] nanos = run.measure();
                for (int i = 0; i < nanos.length; i++) {
                    System.out.printf(Locale.ROOT, "%s ns=%.0f%n", names.get(i), Medians.of(nanos[i]));
                }
                run.check();
            } finally {
                run.end();
            }
        }
        System.exit(0);
    }

    private static Map<Way, Side> sides(List<Kind> kinds, Path folder, int rank, int size) throws IOException {
        Map<Way, Side> sides = new EnumMap<>(Way.class);
        for (Kind each : kinds) {
            if (!sides.containsKey(each.way())) {
                sides.put(each.way(), new Side(each.way(), folder, rank, size));
            }
        }
        return sides;
    }

    private void start(Path folder, List<String> names) throws IOException, InterruptedException {
        sides.putAll(sides(kinds, folder, 0, processes + 1));
        for (int tag = 0; tag < kinds.size(); tag++) {
            Kind kind = kinds.get(tag);
            Side side = sides.get(kind.way());
            messages.add(kind.look().message(side.slabs));
            side.node.receive(tag, message -> answers.countDown());
        }
        for (int rank = 1; rank <= processes; rank++) {
            List<String> arguments = new ArrayList<>(
                    List.of(folder.toString(), Integer.toString(rank), Integer.toString(processes + 1)));
            arguments.addAll(names);
            receivers.add(JavaProcess.start(flags(), Receiver.class, arguments.toArray(String[]::new)));
        }
        for (Side side : sides.values()) {
            for (int rank = 1; rank <= processes; rank++) {
                while (!side.isPublished(rank)) {
                    Thread.sleep(PAUSE_MILLIS);
                    if (!receivers.get(rank - 1).isAlive()) {
                        throw new IOException("process ended: rank=" + rank);
                    }
                }
            }
        }
    }

    /// Of many, each has the first compiler only.
    private List<String> flags() {
        return processes == 1
                ? List.of("-XX:+UseSerialGC", "-Xmx128m")
                : List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx64m");
    }

    private double[][] measure() throws InterruptedException {
        for (int tag = 0; tag < kinds.size(); tag++) {
            for (int i = 0; i < PRACTICE; i++) {
                round(tag);
            }
        }
        double[][] nanos = new double[kinds.size()][BLOCKS * ROUNDS];
        for (int block = 0; block < BLOCKS; block++) {
            for (int tag = 0; tag < kinds.size(); tag++) {
                for (int round = 0; round < ROUNDS; round++) {
                    nanos[tag][block * ROUNDS + round] = round(tag);
                }
            }
        }
        return nanos;
    }

    private double round(int tag) throws InterruptedException {
        CountDownLatch all = new CountDownLatch(processes);
        answers = all;
        OobNode node = sides.get(kinds.get(tag).way()).node;
        long start = System.nanoTime();
        if (processes == 1) {
            node.send(1, tag, messages.get(tag));
        } else {
            node.broadcast(tag, messages.get(tag));
        }
        if (!all.await(SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no answer: left=" + all.getCount());
        }
        return System.nanoTime() - start;
    }

    /// That what should have been lent was, and nothing else.
    private void check() {
        sides.forEach((way, side) -> {
            if (way == Way.SLAB != side.node.lentBytes() > 0) {
                throw new IllegalStateException("lent: way=" + way + " bytes=" + side.node.lentBytes());
            }
        });
    }

    private void end() throws InterruptedException {
        messages.forEach(SealedBuffer::close);
        for (Process each : receivers) {
            each.destroyForcibly().waitFor();
        }
        sides.values().forEach(side -> side.node.close());
    }

    /// The program of a receiver.
    static final class Receiver {

        private Receiver() {}

        public static void main(String... args) throws Exception {
            JavaProcess.endWithInput();
            List<Kind> kinds = Kind.all(List.of(args).subList(3, args.length));
            Map<Way, Side> sides = sides(kinds, Path.of(args[0]), Integer.parseInt(args[1]), Integer.parseInt(args[2]));
            for (int i = 0; i < kinds.size(); i++) {
                int tag = i;
                Kind kind = kinds.get(i);
                Side side = sides.get(kind.way());
                SealedBuffer answer = kind.back() ? kind.look().message(side.slabs) : side.few();
                side.node.receive(tag, message -> {
                    kind.look().at(message.buffer());
                    side.node.send(0, tag, answer);
                });
            }
            Thread.sleep(Long.MAX_VALUE);
        }
    }
}
