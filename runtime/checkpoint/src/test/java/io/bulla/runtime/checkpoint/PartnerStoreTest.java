// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Whatever is lost in one of two places, checkpoints are whole.
class PartnerStoreTest {

    private final ArenaSource source = ArenaSource.create();

    @TempDir
    private Path folder;

    @AfterEach
    void memoryGoesBack() {
        source.close();
    }

    private CheckpointStore at(String place) {
        return FolderStore.of(folder.resolve(place));
    }

    private PartnerStore both() {
        return PartnerStore.of(at("here"), at("there"));
    }

    private void take(CheckpointStore store, long epoch) throws IOException {
        CheckpointArchive archive = CheckpointArchive.of(store);
        archive.publish(Images.write(archive, source, epoch));
    }

    private void check(CheckpointStore store, long epoch) throws IOException {
        CheckpointArchive archive = CheckpointArchive.of(store);
        assertEquals(epoch, archive.latest().orElseThrow().epoch());
        Images.check(archive, source, archive.latest().orElseThrow());
    }

    private void lose(String place) throws IOException {
        List<Path> all;
        try (Stream<Path> files = Files.walk(folder.resolve(place))) {
            all = files.sorted(java.util.Comparator.reverseOrder()).toList();
        }
        for (Path each : all) {
            Files.delete(each);
        }
    }

    /// A job that goes on from an older one, or from none, in silence would be worse than one that does not.
    @Test
    void partnerThatCannotBeReadIsNotTakenForADeletedCheckpoint() throws IOException {
        take(at("there"), 5);
        // the disk is new
        Files.createDirectories(folder.resolve("here"));
        CheckpointStore sick = new Filter(at("there")) {
            @Override
            public ReadableByteChannel manifest(long epoch) throws IOException {
                throw new IOException("Input/output error");
            }
        };
        CheckpointArchive archive = CheckpointArchive.of(PartnerStore.of(at("here"), sick));
        assertEquals(
                "Input/output error",
                assertThrows(IOException.class, archive::latest).getMessage());
    }

    @Test
    void listThatCannotBeReadIsNoEmptyOne() throws IOException {
        take(at("there"), 5);
        Files.createDirectories(folder.resolve("here"));
        CheckpointStore sick = new Filter(at("there")) {
            @Override
            public List<Long> epochs() throws IOException {
                throw new IOException("Input/output error");
            }
        };
        for (CheckpointStore both : List.of(PartnerStore.of(at("here"), sick), PartnerStore.of(sick, at("here")))) {
            assertEquals(
                    "Input/output error",
                    assertThrows(IOException.class, both::epochs).getMessage());
        }
        // one that has some is enough
        assertEquals(List.of(5L), PartnerStore.of(at("there"), sick).epochs());
    }

    @Test
    void eitherPlaceIsEnough() throws IOException {
        for (String lost : List.of("here", "there")) {
            take(both(), both().nextEpoch());
            long epoch = both().epochs().getFirst();
            check(at("here"), epoch);
            check(at("there"), epoch);
            lose(lost);
            check(both(), epoch);
        }
        // what the other place has counts
        assertEquals(3, both().nextEpoch());
        both().delete(2);
        assertEquals(List.of(), both().epochs());
    }

    @Test
    void singleFileThatIsGoneComesFromTheOther() throws IOException {
        take(both(), 1);
        Files.delete(folder.resolve("here/checkpoint-000000000001/rank-00000.bulla"));
        Files.delete(folder.resolve("there/checkpoint-000000000001/rank-00001.bulla"));
        check(both(), 1);
        Files.delete(folder.resolve("there/checkpoint-000000000001/rank-00000.bulla"));
        String message =
                assertThrows(CheckpointException.class, () -> check(both(), 1)).getMessage();
        assertTrue(message.contains("file=rank-00000.bulla"), message);
    }

    @Test
    void placeThatIsFullIsNamedAndTheFormerCheckpointStays() throws IOException {
        take(both(), 1);
        Files.createDirectories(folder.resolve("here"));
        CheckpointStore full = new Filter(at("there")) {
            @Override
            public RankFile create(long epoch, int rank) throws IOException {
                throw new IOException("No space left on device");
            }
        };
        assertEquals(
                "No space left on device",
                assertThrows(IOException.class, () -> take(PartnerStore.of(at("here"), full), 2))
                        .getMessage());
        // nothing half is left
        try (Stream<Path> files = Files.walk(folder.resolve("here"))) {
            assertTrue(files.noneMatch(file -> file.toString().endsWith(".part")));
        }
        CheckpointStore without = new Filter(at("there")) {
            @Override
            public void publish(long epoch, ByteBuffer manifest) throws IOException {
                throw new IOException("No space left on device");
            }
        };
        assertThrows(IOException.class, () -> take(PartnerStore.of(at("here"), without), 2));
        check(both(), 1);
    }
}
