// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.fixtures.MemoryFiles;
import io.bulla.posix.fixtures.SendFixture;
import io.bulla.refcount.LeaseLedger;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Who has borrowed what, for how long.
@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class FlightEventsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int SIZE = 1000;
    private static final String BORROWER =
            "borrower pid=" + ProcessHandle.current().pid() + " token=42 peer=7";

    private static final List<String> NAMES = List.of("Lent", "LendingRefused", "LeasesQuarantined", "BorrowerEnded");

    private final LeaseLedger ledger = LeaseLedger.full();

    @TempDir
    private Path parent;

    @Test
    void recordingNamesTheBorrowerOfEachLease() throws Exception {
        Path folder = Files.createDirectory(
                parent.resolve("f"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Path file = parent.resolve("events.jfr");
        try (Recording recording = new Recording()) {
            for (String name : NAMES) {
                recording.enable("bulla." + name).withThreshold(Duration.ZERO);
            }
            recording.start();
            lendTwoAndLoseOne(folder);
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events = new ArrayList<>(RecordingFile.readAllEvents(file));
        events.removeIf(event ->
                NAMES.stream().noneMatch(name -> event.getEventType().getName().equals("bulla." + name)));
        // a file has one thread's behind another's
        events.sort(Comparator.comparing(RecordedEvent::getEndTime));
        for (RecordedEvent each : events) {
            assertEquals(BORROWER, each.getString("borrower"), each::toString);
        }
        List<RecordedEvent> lent = named(events, "Lent");
        assertEquals(2, lent.size());
        assertTrue(lent.getFirst().getBoolean("returned"));
        assertFalse(lent.getLast().getBoolean("returned"));
        assertEquals(SIZE, lent.getFirst().getLong("bytes"));
        assertTrue(lent.getFirst().getDuration().isPositive());
        RecordedEvent refused = named(events, "LendingRefused").getFirst();
        assertEquals(1, refused.getInt("leases"));
        assertEquals(SIZE, refused.getLong("leasedBytes"));
        RecordedEvent quarantined = named(events, "LeasesQuarantined").getFirst();
        assertEquals(1, quarantined.getInt("leases"));
        assertEquals("the lender was closed", quarantined.getString("why"));
        RecordedEvent ended = named(events, "BorrowerEnded").getFirst();
        assertEquals(1, ended.getInt("leases"));
        assertEquals(SIZE, ended.getLong("bytes"));
        assertEquals(5, events.size(), events::toString);
    }

    private void lendTwoAndLoseOne(Path folder) throws Exception {
        try (ArenaSource copies = ArenaSource.create();
                SharedSlabSource memory =
                        SharedSlabSource.create(SlabSource.builder().trace(ledger))) {
            SlabLender lender = SlabLender.open(folder, memory, new SlabQuota(1, SIZE));
            SealedBuffer held;
            try (SlabBorrower borrower = SlabBorrower.connect(lender.path(), 42, copies, SIZE);
                    SealedBuffer message = message(memory)) {
                SlabPeer peer = lender.accept(PATIENCE);
                assertNotNull(peer);
                peer.rename("peer=7");
                assertTrue(peer.lend(message));
                borrower.receive().close();
                SlabLendingTest.await(() -> peer.leases() == 0);
                assertTrue(peer.lend(message));
                assertFalse(peer.lend(message));
                held = borrower.receive();
                assertTrue(ledger.summary().contains(BORROWER), ledger::summary);
                lender.close();
                SlabLendingTest.await(() -> peer.gone() != null);
            }
            held.close();
            lender.close(PATIENCE);
        }
    }

    private static SealedBuffer message(SharedSlabSource memory) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, SIZE)) {
            return builder.put(SendFixture.random(SIZE)).seal();
        }
    }

    private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals("bulla." + name))
                .toList();
    }
}
