// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.checks.sim.schedule.Line;
import io.bulla.checks.sim.schedule.Schedule;
import io.bulla.checks.sim.world.Sights;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.bulk.BulkLanding;
import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.bulk.BulkTransport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/// Devices that write into each other's memory, in virtual time. If they are to make trouble, there is now and then
/// no line, no landing, a write that fails or is silent for long and fails then, a line that is lost, a device that
/// does not let go of memory.
public final class SimBulk {

    private static final long FAST = 5 * World.MILLI;
    private static final long SLOW = 400 * World.MILLI;
    private static final long SILENT = 2 * World.SECOND;

    private final Simulation simulation;
    private final World world;
    private final Sights sights;
    // of all nodes, by key
    private final Map<Long, Landing> landings = new HashMap<>();
    private final Map<Long, Line> lines = new HashMap<>();
    private long keys = 100;

    SimBulk(Simulation simulation) {
        this.simulation = simulation;
        this.world = simulation.world;
        this.sights = simulation.sights;
    }

    /// Messages of at least so many bytes go by a line; 0: none does.
    public static long above(Schedule schedule) {
        return schedule.config().getOrDefault("bulk", 0L);
    }

    /// Gives a node its device, if the schedule has such.
    void offer(SimNode node, OobNodeBuilder builder) {
        if (above(simulation.schedule) > 0) {
            SplittableRandom random = world.stream('b' + 256L * node.generation, node.rank(), node.life);
            builder.bulk(new Device(node, random), above(simulation.schedule));
        }
    }

    /// Of an end that is none of a node's.
    public byte[] hostileAddress() {
        lines.put(++keys, null);
        return ByteBuffer.allocate(Long.BYTES).putLong(keys).array();
    }

    /// Memory that peers may write to, of nodes that are not killed.
    long open() {
        return landings.values().stream()
                .filter(landing -> !landing.line.device.node.isKilled())
                .count();
    }

    private final class Device implements BulkTransport {

        private final SimNode node;
        private final SplittableRandom random;
        // when there was no line, by peer
        private final Map<String, SimNode.Moment> refused = new HashMap<>();

        Device(SimNode node, SplittableRandom random) {
            this.node = node;
            this.random = random;
        }

        /// Only where things go wrong, and only as long as they do.
        private boolean goesWrong(int oneIn) {
            return random.nextInt(oneIn) == 0
                    && simulation.schedule.config().getOrDefault("bulkTrouble", 0L) != 0
                    && !simulation.isMended();
        }

        @Override
        public BulkLine open(String peer, Consumer<? super IOException> failed) throws IOException {
            SimNode.Moment before = refused.get(peer);
            // a pause is of the loop's time, of which some passes at once when the node's clock makes a step
            if (before != null && node.loopTimeSince(before) < World.SECOND) {
                simulation.ledger.violation(
                        "asks a device again at once", "node=" + node + " nanos=" + node.loopTimeSince(before));
            }
            if (goesWrong(8)) {
                sights.see("bulk line refused");
                refused.put(peer, node.moment());
                throw new IOException("no line today");
            }
            Line line = new Line(this, failed, ++keys);
            lines.put(line.name, line);
            if (goesWrong(4)) {
                world.after(random.nextLong(SILENT), line::isLost);
            }
            return line;
        }

        @Override
        public void close() {
            // lines are closed by their connections
        }
    }

    private final class Line implements BulkLine {

        private final Device device;
        private final Consumer<? super IOException> failed;
        private final long name;
        private final List<Landing> mine = new ArrayList<>();
        private boolean closed;

        Line(Device device, Consumer<? super IOException> failed, long name) {
            this.device = device;
            this.failed = failed;
            this.name = name;
        }

        private void isLost() {
            if (!closed && !device.node.isKilled()) {
                sights.see("bulk line is lost");
                failed.accept(new IOException("line is lost"));
                device.node.poke();
            }
        }

        @Override
        public byte[] address() {
            return ByteBuffer.allocate(Long.BYTES).putLong(name).array();
        }

        @Override
        public void connect(byte[] peersAddress) throws IOException {
            if (peersAddress.length != Long.BYTES
                    || !lines.containsKey(ByteBuffer.wrap(peersAddress).getLong())) {
                simulation.beside("bulk line to no address");
                throw new IOException("not an address: bytes=" + peersAddress.length);
            }
        }

        @Override
        public boolean takes(SealedBuffer buffer) {
            return buffer.byteSize() % 7 != 0;
        }

        @Override
        public BulkLanding land(long byteSize) throws IOException {
            // of some lengths there is never one
            if (byteSize % 5 == 0 || device.goesWrong(6)) {
                sights.see("bulk landing refused");
                throw new IOException("no room today");
            }
            if (mine.stream().anyMatch(landing -> !landing.over)) {
                simulation.ledger.violation("a second landing on a line", "node=" + device.node);
            }
            Landing landing = new Landing(this, ++keys, device.node.memory.allocate(byteSize), byteSize);
            landings.put(landing.key, landing);
            mine.add(landing);
            return landing;
        }

        @Override
        public CompletionStage<Void> write(SealedBuffer buffer, long key, long target) throws IOException {
            if (device.goesWrong(12)) {
                sights.see("bulk write refused");
                throw new IOException("device refuses");
            }
            CompletableFuture<Void> result = new CompletableFuture<>();
            SealedBuffer held = buffer.share();
            boolean fails = device.goesWrong(8);
            boolean silent = device.goesWrong(10);
            long nanos = silent ? SILENT : device.random.nextInt(4) == 0 ? SLOW : FAST;
            sights.see(silent ? "bulk write is silent" : nanos == SLOW ? "bulk write is late" : "bulk write");
            world.after(1 + device.random.nextLong(nanos), () -> {
                if (!device.node.isKilled()) {
                    write(held, key, fails || silent, result);
                    device.node.poke();
                }
            });
            return result;
        }

        private void write(SealedBuffer held, long key, boolean fails, CompletableFuture<Void> result) {
            try (held) {
                Landing landing = landings.get(key);
                if (fails || closed || landing == null || landing.bytes != held.byteSize()) {
                    sights.see(
                            closed
                                    ? "bulk write ends with its line"
                                    : landing == null ? "bulk write to a void key" : "bulk write fails");
                    result.completeExceptionally(new IOException("not written: key=" + key));
                    return;
                }
                long at = 0;
                for (int i = 0; i < held.iovec().regionCount(); i++) {
                    MemorySegment region = held.iovec().region(i);
                    MemorySegment.copy(
                            region,
                            ValueLayout.JAVA_BYTE,
                            0,
                            landing.memory.segment(),
                            ValueLayout.JAVA_BYTE,
                            at,
                            region.byteSize());
                    at += region.byteSize();
                }
            }
            sights.see("bulk is written");
            simulation.beside("bulk is written");
            result.complete(null);
        }

        @Override
        public void close() {
            closed = true;
            lines.remove(name);
            mine.forEach(Landing::close);
        }
    }

    private final class Landing implements BulkLanding {

        private final Line line;
        private final long key;
        private final MemorySource.Region memory;
        private final long bytes;
        private boolean over;

        Landing(Line line, long key, MemorySource.Region memory, long bytes) {
            this.line = line;
            this.key = key;
            this.memory = memory;
            this.bytes = bytes;
        }

        @Override
        public long key() {
            return key;
        }

        @Override
        public long target() {
            return key * 3;
        }

        @Override
        public SealedBuffer seal() throws IOException {
            if (over) {
                throw new IOException("landing is over: key=" + key);
            }
            if (line.device.goesWrong(10)) {
                sights.see("bulk landing is not let go");
                close();
                throw new IOException("device has not let go");
            }
            over = true;
            landings.remove(key);
            return SealedBuffer.adopt(memory.segment(), memory::release);
        }

        @Override
        public void close() {
            if (!over) {
                over = true;
                landings.remove(key);
                memory.release();
            }
        }
    }
}
