// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;

class FlightEventsTest {

    private static final long SLAB = SlabSource.SLAB;
    private static final Duration NOT_BY_ITSELF = Duration.ofHours(1);

    /// Keeps its addresses, as mappings do.
    private record Kept(SlabSupplier.Memory arena) implements SlabSupplier.Memory {

        @Override
        public MemorySegment segment() {
            return arena.segment();
        }

        @Override
        public boolean discard() {
            return true;
        }

        @Override
        public void end() {
            arena.end();
        }
    }

    private static SlabSource source(SlabSupplier supplier) {
        return SlabSource.builder()
                .budget(new MemoryBudget(64 * SLAB))
                .idle(NOT_BY_ITSELF)
                .supplier(supplier)
                .build();
    }

    @Test
    void recordingTellsOfSlabsAndTrims() throws IOException {
        List<RecordedEvent> events = recorded(() -> {
            try (SlabSource memory = source(SlabSupplier.arenas())) {
                Region small = memory.allocate(1000);
                Region large = memory.allocate(3 * SLAB);
                large.release();
                // idle: the same slab once more
                memory.allocate(3 * SLAB).release();
                memory.trim();
                small.release();
            }
        });
        assertEquals(List.of(SLAB, 3 * SLAB), longs(events, "SlabTaken", "bytes"));
        assertEquals(List.of(SLAB, 4 * SLAB), longs(events, "SlabTaken", "booked"));
        assertEquals(List.of(3 * SLAB, SLAB), longs(events, "SlabGivenBack", "bytes"));
        assertEquals(List.of(SLAB, 0L), longs(events, "SlabGivenBack", "booked"));
        assertEquals(List.of(4 * SLAB), longs(events, "PoolTrim", "bookedBefore"));
        assertEquals(List.of(SLAB), longs(events, "PoolTrim", "bookedAfter"));
        assertTrue(named(events, "PoolTrim").getFirst().getDuration().isPositive());
    }

    @Test
    void addressesThatStayAreTakenAgain() throws IOException {
        List<RecordedEvent> events = recorded(() -> {
            try (SlabSource memory =
                    source(bytes -> new Kept(SlabSupplier.arenas().take(bytes)))) {
                memory.allocate(SLAB).release();
                memory.trim();
                memory.allocate(SLAB).release();
            }
        });
        assertEquals(
                List.of(false, true),
                named(events, "SlabTaken").stream()
                        .map(event -> event.getBoolean("again"))
                        .toList());
        assertEquals(List.of(SLAB, SLAB), longs(events, "SlabGivenBack", "bytes"));
    }

    @Test
    void slabOfWhichAViewEscapedIsGivenBackAsSuch() throws IOException {
        List<RecordedEvent> events = recorded(() -> {
            try (SlabSource memory = source(SlabSupplier.arenas())) {
                try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, SLAB);
                        SealedBuffer message = builder.putInt(1).seal()) {
                    message.iovec().region(0);
                }
                memory.trim();
            }
        });
        assertTrue(named(events, "SlabGivenBack").getFirst().getBoolean("escaped"));
    }

    @Test
    void supplierThatFailsTookNothing() throws IOException {
        List<RecordedEvent> events = recorded(() -> {
            try (SlabSource memory = source(bytes -> {
                throw new OutOfMemoryError("none: bytes=" + bytes);
            })) {
                assertThrows(OutOfMemoryError.class, () -> memory.allocate(1));
                assertEquals(0, memory.bookedBytes());
            }
        });
        assertFalse(
                events.stream().anyMatch(event -> event.getEventType().getName().startsWith("bulla.Slab")));
    }

    private static List<RecordedEvent> recorded(Runnable body) throws IOException {
        Path file = Files.createTempFile("bulla", ".jfr");
        try (Recording recording = new Recording()) {
            for (String name : List.of("SlabTaken", "SlabGivenBack", "PoolTrim")) {
                recording.enable("bulla." + name).withThreshold(Duration.ZERO);
            }
            recording.start();
            body.run();
            recording.stop();
            recording.dump(file);
            List<RecordedEvent> events = new ArrayList<>(RecordingFile.readAllEvents(file));
            // a file has one thread's behind another's
            events.sort(Comparator.comparing(RecordedEvent::getStartTime));
            return events;
        } finally {
            Files.delete(file);
        }
    }

    private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals("bulla." + name))
                .toList();
    }

    private static List<Long> longs(List<RecordedEvent> events, String name, String field) {
        return named(events, name).stream().map(event -> event.getLong(field)).toList();
    }
}
