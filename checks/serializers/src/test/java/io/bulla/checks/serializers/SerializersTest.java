// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.serializers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.CopyTally;
import io.bulla.refcount.LeaseTally;
import io.bulla.refcount.LeaseTrace;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Object, sealed buffer, many sends, object: with each serializer, over one region and over many, and what the table
/// of `docs/serializers.md` says of the copies.
class SerializersTest {

    private static final int SENDS = 5;
    private static final int BYTES = 100_000;
    private static final int MIB = 1 << 20;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /// In the order of the page.
    static List<Serializer<?>> all() {
        return List.of(
                new ProtobufSerializer(),
                new JacksonJsonSerializer(),
                new JacksonCborSerializer(),
                new SbeSerializer(),
                new FlatBuffersSerializer(),
                new KryoSerializer(),
                new ForySerializer(),
                new AvroSerializer(),
                new MessagePackSerializer(),
                new RecordByHand());
    }

    enum Regions {
        ONE,
        MANY
    }

    static Stream<Arguments> allOverOneRegionAndMany() {
        return all().stream().flatMap(each -> Stream.of(Regions.values()).map(regions -> Arguments.of(each, regions)));
    }

    @ParameterizedTest
    @MethodSource("allOverOneRegionAndMany")
    <T> void objectComesBackFromEachOfManySends(Serializer<T> serializer, Regions regions) throws Exception {
        LeaseTally handles = new LeaseTally();
        T object = serializer.example(BYTES);
        try (ArenaSource memory = ArenaSource.builder().trace(handles).build();
                SealedBuffer message = sealed(serializer, object, memory, regions);
                Sockets sockets = Sockets.open(SENDS)) {
            long own = handles.open();
            CopyTally before = CopyTally.snapshot();
            List<Thread> sends = ManySends.send(message, sockets.senders());
            for (SocketChannel socket : sockets.receivers()) {
                try (SealedBuffer received = received(socket, message.byteSize(), memory)) {
                    assertEquals(-1, message.mismatch(received));
                    if (socket == sockets.receivers().getLast()) {
                        assertEquals(new CopyTally(0, 0), CopyTally.snapshot().since(before), "copies of all sends");
                    }
                    assertEquals(object, serializer.read(received));
                }
                before = CopyTally.snapshot();
            }
            for (Thread send : sends) {
                send.join();
            }
            assertEquals(object, serializer.read(message));
            assertEquals(own, handles.open(), "a send has kept its handle");
        }
        assertEquals(0, handles.open());
    }

    /// How often the bytes of the message are copied on the way to the object, by Bulla's own count.
    static <T> long copiesToRead(Serializer<T> serializer, Regions regions) throws IOException {
        try (ArenaSource memory = ArenaSource.create();
                SealedBuffer message = sealed(serializer, serializer.example(BYTES), memory, regions)) {
            CopyTally before = CopyTally.snapshot();
            serializer.read(message);
            return Math.round((double) CopyTally.snapshot().since(before).bytes() / message.byteSize());
        }
    }

    /// Of what it writes a MiB, the bytes of the heap that it needs for that; the least of several, since classes
    /// are loaded the first times.
    static <T> long heapToWrite(Serializer<T> serializer) throws IOException {
        T object = serializer.example(MIB);
        long least = Long.MAX_VALUE;
        try (ArenaSource memory = ArenaSource.create()) {
            for (int i = 0; i < 5; i++) {
                try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, 2 * MIB)) {
                    long before = THREADS.getCurrentThreadAllocatedBytes();
                    serializer.write(object, builder);
                    least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
                    assertTrue(builder.byteSize() >= MIB, () -> "byteSize=" + builder.byteSize());
                }
            }
        }
        return least;
    }

    @Test
    void manyRegionsAreManyAndSmall() throws IOException {
        try (ArenaSource memory = ArenaSource.create();
                SealedBuffer one = sealed(new KryoSerializer(), Order.of(BYTES), memory, Regions.ONE);
                SealedBuffer many = sealed(new KryoSerializer(), Order.of(BYTES), memory, Regions.MANY)) {
            assertEquals(1, one.iovec().regionCount());
            assertTrue(
                    many.iovec().regionCount() > 900,
                    () -> "regions=" + many.iovec().regionCount());
            assertTrue(one.contentEquals(many));
        }
    }

    private static <T> SealedBuffer sealed(Serializer<T> serializer, T object, MemorySource memory, Regions regions)
            throws IOException {
        boolean isOne = regions == Regions.ONE;
        try (BufferBuilder builder =
                isOne ? BufferBuilder.ofCapacity(memory, 2 * BYTES) : BufferBuilder.create(new NeverGrowing(memory))) {
            serializer.write(object, builder);
            SealedBuffer message = builder.seal();
            return isOne ? message : cut(message, memory);
        }
    }

    /// The same bytes in regions of 97 bytes, so that numbers and texts lie across borders.
    private static SealedBuffer cut(SealedBuffer message, MemorySource memory) {
        List<SealedBuffer> pieces = new ArrayList<>();
        try (message) {
            for (long at = 0; at < message.byteSize(); at += 97) {
                try (SealedBuffer piece = message.slice(at, Math.min(97, message.byteSize() - at))) {
                    pieces.add(piece.copy(memory));
                }
            }
            return SealedBuffer.concat(pieces.toArray(SealedBuffer[]::new));
        } finally {
            pieces.forEach(SealedBuffer::close);
        }
    }

    private static SealedBuffer received(SocketChannel socket, long byteSize, MemorySource memory) throws IOException {
        try (BufferBuilder landing = BufferBuilder.ofCapacity(memory, byteSize)) {
            return landing.readFully(socket, byteSize).seal();
        }
    }

    /// A builder on it goes on in another region when one is full.
    private record NeverGrowing(MemorySource memory) implements MemorySource {

        @Override
        public Region allocate(long byteSize) {
            return memory.allocate(byteSize);
        }

        @Override
        public LeaseTrace trace() {
            return memory.trace();
        }
    }
}
