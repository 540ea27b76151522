// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static io.bulla.registration.Scene.ALICE;
import static io.bulla.registration.Scene.NONE;
import static io.bulla.registration.Scene.PATIENCE;
import static io.bulla.registration.Scene.SLAB;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.registration.Revocation.Quarantined;
import io.bulla.testkit.HostileRegistrar.Freeing;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;

/// Who pins what, since when, for which peer.
class FlightEventsTest {

    private interface Body {
        void run(Scene scene) throws Exception;
    }

    @Test
    void recordingTellsWhoPinnedWhatForWhomAndHowLong() throws Exception {
        List<RecordedEvent> events = recorded(scene -> {
            try (SealedBuffer buffer = scene.buffer(1, 100)) {
                Objects.requireNonNull(scene.registrations.use(buffer, 0)).close();
            }
            try (RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 500)) {
                landing.grant(ALICE).complete(PATIENCE);
            }
            scene.registrations.quiesce(PATIENCE);
        });
        assertEquals(List.of("LOCAL - " + SLAB, "REMOTE_WRITE alice#1 500"), lines(events, "MemoryRegistered"));
        assertEquals(List.of("REMOTE_WRITE alice#1 500", "LOCAL - " + SLAB), lines(events, "MemoryFree"));
        RecordedEvent free = named(events, "MemoryFree").getFirst();
        assertTrue(free.getDuration("age").compareTo(Duration.ZERO) > 0);
        assertEquals("hostile", free.getString("device"));
        assertEquals(List.of(), named(events, "MemoryQuarantined"));
    }

    @Test
    void recordingTellsOfMemoryThatIsNotFreeInTime() throws Exception {
        List<RecordedEvent> events = recorded(scene -> {
            scene.device.freeing(Freeing.LATE);
            try (RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 500)) {
                assertInstanceOf(Quarantined.class, landing.grant(ALICE).revoke(NONE));
            }
            scene.device.freeLate();
        });
        RecordedEvent left = named(events, "MemoryQuarantined").getFirst();
        assertEquals("alice#1", left.getString("peer"));
        assertEquals(500, left.getLong("bytes"));
        assertTrue(left.getString("why").contains("device has not stopped"));
        assertEquals(1, named(events, "MemoryFree").size());
    }

    @Test
    void recordingTellsWhyNothingWasRegistered() throws Exception {
        List<RecordedEvent> events = recorded(scene -> {
            scene.device.refuse(1);
            try (SealedBuffer buffer = scene.buffer(1, 100)) {
                assertNull(scene.registrations.use(buffer, 0));
            }
        });
        RecordedEvent refused = named(events, "RegistrationRefused").getFirst();
        assertEquals(SLAB, refused.getLong("bytes"));
        assertTrue(refused.getString("why").startsWith("device refused"));
        assertEquals(List.of(), named(events, "MemoryRegistered"));
    }

    private static List<RecordedEvent> recorded(Body body) throws Exception {
        Path file = Files.createTempFile("bulla", ".jfr");
        try (Recording recording = new Recording();
                Scene scene = new Scene()) {
            for (String name : List.of("MemoryRegistered", "MemoryFree", "MemoryQuarantined", "RegistrationRefused")) {
                recording.enable("bulla." + name).withThreshold(Duration.ZERO);
            }
            recording.start();
            body.run(scene);
            recording.stop();
            recording.dump(file);
            return RecordingFile.readAllEvents(file);
        } finally {
            Files.delete(file);
        }
    }

    private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals("bulla." + name))
                .toList();
    }

    private static List<String> lines(List<RecordedEvent> events, String name) {
        return named(events, name).stream()
                .map(event -> event.getString("access") + " " + event.getString("peer") + " " + event.getLong("bytes"))
                .toList();
    }
}
