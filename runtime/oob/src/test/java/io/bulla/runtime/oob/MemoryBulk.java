// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.bulk.BulkLanding;
import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.bulk.BulkTransport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A device within one process, as a test wants it: it refuses, fails, waits. A key that is void is an
/// error of the writer's.
final class MemoryBulk implements BulkTransport {

    /// What all devices of a test have in common.
    static final class Net {

        private final Map<Long, Landing> landings = new ConcurrentHashMap<>();
        private final AtomicLong keys = new AtomicLong(100);

        boolean isEmpty() {
            return landings.isEmpty();
        }
    }

    private final Net net;
    private final MemorySource source;
    final Set<Line> open = ConcurrentHashMap.newKeySet();
    final AtomicInteger lines = new AtomicInteger();
    final AtomicInteger landed = new AtomicInteger();
    final AtomicInteger written = new AtomicInteger();
    final AtomicInteger voidKeys = new AtomicInteger();
    final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();
    volatile boolean refusesLines;
    volatile boolean refusesLandings;
    volatile boolean failsWrites;
    volatile boolean failsSeals;
    volatile boolean holdsWrites;

    MemoryBulk(Net net, MemorySource source) {
        this.net = net;
        this.source = source;
    }

    @Override
    public BulkLine open(String peer, Consumer<? super IOException> failed) throws IOException {
        if (refusesLines) {
            throw new IOException("no line today");
        }
        Line line = new Line(failed);
        lines.incrementAndGet();
        open.add(line);
        return line;
    }

    @Override
    public void close() {}

    final class Line implements BulkLine {

        final Consumer<? super IOException> failed;
        final Set<Landing> mine = new HashSet<>();
        volatile boolean closed;

        Line(Consumer<? super IOException> failed) {
            this.failed = failed;
        }

        @Override
        public byte[] address() {
            return new byte[] {'m', 'e', 'm'};
        }

        @Override
        public void connect(byte[] peersAddress) throws IOException {
            if (!Arrays.equals(peersAddress, address())) {
                throw new IOException("not an address: " + Arrays.toString(peersAddress));
            }
        }

        @Override
        public boolean takes(SealedBuffer buffer) {
            return true;
        }

        @Override
        public BulkLanding land(long byteSize) throws IOException {
            if (refusesLandings) {
                throw new IOException("no room today");
            }
            landed.incrementAndGet();
            Landing landing = new Landing(MemoryBulk.this, net.keys.getAndIncrement(), (int) byteSize);
            net.landings.put(landing.key, landing);
            mine.add(landing);
            return landing;
        }

        @Override
        public CompletionStage<Void> write(SealedBuffer buffer, long key, long target) {
            CompletableFuture<Void> result = new CompletableFuture<>();
            SealedBuffer held = buffer.share();
            Runnable write = () -> write(held, key, result);
            if (holdsWrites) {
                waiting.add(write);
            } else {
                Thread.startVirtualThread(write);
            }
            return result;
        }

        private void write(SealedBuffer held, long key, CompletableFuture<Void> result) {
            try (held) {
                Landing landing = net.landings.get(key);
                if (failsWrites || landing == null || closed) {
                    voidKeys.addAndGet(landing == null ? 1 : 0);
                    result.completeExceptionally(new IOException("not written: key=" + key));
                    return;
                }
                landing.bytes.put(0, held.toByteArray());
            }
            written.incrementAndGet();
            result.complete(null);
        }

        @Override
        public void close() {
            closed = true;
            mine.forEach(Landing::close);
            open.remove(this);
        }
    }

    static final class Landing implements BulkLanding {

        private final MemoryBulk of;
        private final long key;
        private final ByteBuffer bytes;

        Landing(MemoryBulk of, long key, int byteSize) {
            this.of = of;
            this.key = key;
            this.bytes = ByteBuffer.allocate(byteSize);
        }

        @Override
        public long key() {
            return key;
        }

        @Override
        public long target() {
            return 0;
        }

        @Override
        public SealedBuffer seal() throws IOException {
            close();
            if (of.failsSeals) {
                throw new IOException("device has not let go");
            }
            try (BufferBuilder builder = BufferBuilder.create(of.source)) {
                return builder.put(bytes.array(), 0, bytes.capacity()).seal();
            }
        }

        @Override
        public void close() {
            of.net.landings.remove(key);
        }
    }

    /// Lets held writes go.
    void release() {
        holdsWrites = false;
        for (@Nullable Runnable next = waiting.poll(); next != null; next = waiting.poll()) {
            next.run();
        }
    }

    int landingsThere() {
        return net.landings.size();
    }
}
