// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.refcount.LeaseLedger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;

class FlightEventsTest {

    @Test
    void recordingTellsOfChunksSealsHoldTimesAndLeaks() throws IOException {
        AtomicInteger told = new AtomicInteger();
        LeaseLedger ledger = LeaseLedger.full().onLeak(FlightEvents.leaks(lost -> told.incrementAndGet()));
        Path file = Files.createTempFile("bulla", ".jfr");
        try (Recording recording = new Recording();
                ArenaSource source = ArenaSource.create(new MemoryBudget(16 << 20), ledger)) {
            for (String name : List.of("Allocate", "Seal", "LastClose", "Leak")) {
                recording.enable("bulla." + name).withThreshold(Duration.ZERO);
            }
            recording.start();
            SealedBuffer buffer = Bytes.sealed(source, 1000, "first");
            SealedBuffer share = buffer.share();
            buffer.close();
            Await.pause(30);
            share.close();
            Bytes.sealed(source, 1 << 20).close();
            forget(source);
            Await.collected(() -> told.get() == 1);
            recording.stop();
            recording.dump(file);
            List<RecordedEvent> events = RecordingFile.readAllEvents(file);
            assertEquals(List.of(256L << 10, 1L << 20), longs(events, "bulla.Allocate", "bytes"));
            assertEquals(List.of(1000L, 1L << 20, 80L), longs(events, "bulla.Seal", "bytes"));
            RecordedEvent seal = named(events, "bulla.Seal").getFirst();
            assertEquals(1, seal.getInt("regions"));
            RecordedEvent held = named(events, "bulla.LastClose").stream()
                    .filter(event -> event.getLong("bytes") == 1000)
                    .findFirst()
                    .orElseThrow();
            assertTrue(held.getDuration().toMillis() >= 30, held.toString());
            assertEquals(3, named(events, "bulla.LastClose").size());
            RecordedEvent leak = named(events, "bulla.Leak").getFirst();
            assertEquals("lost", leak.getString("tag"));
            assertEquals(80, leak.getLong("bytes"));
        } finally {
            Files.delete(file);
        }
    }

    private static void forget(MemorySource source) {
        Bytes.sealed(source, 80, "lost");
    }

    private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals(name))
                .toList();
    }

    private static List<Long> longs(List<RecordedEvent> events, String name, String field) {
        return named(events, name).stream().map(event -> event.getLong(field)).toList();
    }
}
