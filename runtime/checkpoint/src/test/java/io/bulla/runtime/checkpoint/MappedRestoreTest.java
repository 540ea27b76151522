// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.testkit.NoOpenHandles;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// Restores that copy nothing: the bytes are where the file is.
@ExtendWith(NoOpenHandles.class)
class MappedRestoreTest {

    private static final int LENGTH = 100_000;
    private static final int COMPILED = 20_000;

    @TempDir
    private Path folder;

    private CheckpointManifest written(CheckpointStore store, MemorySource source) throws IOException {
        CheckpointArchive archive = CheckpointArchive.of(store);
        CheckpointManifest manifest = Images.write(archive, source, 1);
        archive.publish(manifest);
        return manifest;
    }

    /// One state of many pages, alone in a job of one node.
    private CheckpointManifest writtenState(CheckpointStore store, MemorySource source) throws IOException {
        TreeMap<String, SealedBuffer> states = new TreeMap<>(Map.of("long", Images.bytes(source, 3, LENGTH)));
        CheckpointArchive archive = CheckpointArchive.of(store);
        try (RankImage image = new RankImage(new NodeCut(0, 1, List.of(), List.of(), List.of()), states)) {
            CheckpointManifest manifest = new CheckpointManifest(1, Images.TAKEN, List.of(archive.write(1, image)));
            archive.publish(manifest);
            return manifest;
        }
    }

    /// Shows the memory that a store has mapped.
    private static final class Watched extends Filter {

        private MemorySegment shown = MemorySegment.NULL;
        private IoAction before = () -> {};

        Watched(CheckpointStore store) {
            super(store);
        }

        @Override
        public Optional<MemorySegment> mapped(long epoch, int rank) throws IOException {
            Optional<MemorySegment> mapped = super.mapped(epoch, rank);
            shown = mapped.orElseThrow();
            before.run();
            return mapped;
        }
    }

    private interface IoAction {
        void run() throws IOException;
    }

    @Test
    void bytesAreWhereTheFileIsMapped(MemorySource source) throws IOException {
        Watched store = new Watched(FolderStore.of(folder));
        CheckpointManifest manifest = written(store, source);
        Images.check(CheckpointArchive.of(store), source, manifest);
        try (RankImage image = CheckpointArchive.of(store).map(manifest, 0, RestoreLimits.DEFAULT)) {
            long first = store.shown.address();
            for (Message message : image.cut().arrived()) {
                long at = message.buffer().iovec().region(0).address();
                assertTrue(first <= at && at < first + store.shown.byteSize(), "copied");
            }
        }
    }

    @Test
    void handlesOutliveTheFileName(MemorySource source) throws IOException {
        FolderStore store = FolderStore.of(folder);
        CheckpointManifest manifest = writtenState(store, source);
        try (RankImage image = CheckpointArchive.of(store).map(manifest, 0, RestoreLimits.DEFAULT);
                SealedBuffer expected = Images.bytes(source, 3, LENGTH)) {
            store.delete(1);
            SealedBuffer state = image.states().get("long");
            assertArrayEquals(expected.toByteArray(), state.toByteArray());
        }
    }

    @Test
    void fileThatIsCutShortBeneathTheMappingIsAnErrorByName(MemorySource source) throws IOException {
        Watched store = new Watched(FolderStore.of(folder));
        CheckpointManifest manifest = writtenState(store, source);
        store.before = () -> {
            try (FileChannel file = FileChannel.open(
                    folder.resolve("checkpoint-000000000001/rank-00000.bulla"), StandardOpenOption.WRITE)) {
                file.truncate(4096);
            }
        };
        CheckpointArchive archive = CheckpointArchive.of(store);
        String message = assertThrows(CheckpointException.class, () -> archive.map(manifest, 0, RestoreLimits.DEFAULT))
                .getMessage();
        assertEquals("checkpoint is damaged: epoch=1 file=rank-00000.bulla reason=file ends early record=56", message);
    }

    /// The JVM throws the error of compiled code at a poll, which may be outside of what read.
    @Test
    void compiledReadOfWhatIsGoneIsTheEndOfTheFile() throws IOException {
        Path path = Files.write(folder.resolve("file"), new byte[LENGTH]);
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment memory = file.map(FileChannel.MapMode.READ_ONLY, 0, LENGTH, Arena.ofAuto());
            for (int i = 0; i < COMPILED; i++) {
                assertEquals(i % 100 + 1, read(memory, i % 100 + 1));
            }
            file.truncate(0);
            for (int i = 0; i < COMPILED; i++) {
                int bytes = i % 100 + 1;
                assertThrows(EOFException.class, () -> read(memory, bytes));
            }
        }
    }

    private static int read(MemorySegment memory, int bytes) throws IOException {
        try (RankReader.Mapped mapped = new RankReader.Mapped(memory)) {
            return mapped.read(ByteBuffer.allocate(bytes));
        }
    }

    @Test
    void storeThatMapsNothingIsRefusedByName(MemorySource source) throws IOException {
        CheckpointStore store = new Filter(FolderStore.of(folder)) {
            @Override
            public Optional<MemorySegment> mapped(long epoch, int rank) {
                return Optional.empty();
            }

            @Override
            public String toString() {
                return "a store elsewhere";
            }
        };
        CheckpointManifest manifest = written(store, source);
        CheckpointArchive archive = CheckpointArchive.of(store);
        assertEquals(
                "cannot map checkpoint: epoch=1 file=rank-00000.bulla reason=store maps no files:"
                        + " store=a store elsewhere",
                assertThrows(CheckpointException.class, () -> archive.map(manifest, 0, RestoreLimits.DEFAULT))
                        .getMessage());
        assertThrows(IllegalArgumentException.class, () -> archive.map(manifest, 2, RestoreLimits.DEFAULT));
        Checkpoints.restoreLatest(store, 0, source, RestoreLimits.DEFAULT)
                .orElseThrow()
                .close();
    }

    @Test
    void limitsHoldForWhatIsMapped(MemorySource source) throws IOException {
        FolderStore store = FolderStore.of(folder);
        CheckpointManifest manifest = written(store, source);
        CheckpointArchive archive = CheckpointArchive.of(store);
        for (RestoreLimits limits : List.of(
                new RestoreLimits(332, 100, 100), new RestoreLimits(333, 11, 100), new RestoreLimits(333, 12, 9))) {
            assertThrows(CheckpointException.class, () -> archive.map(manifest, 0, limits));
        }
        archive.map(manifest, 0, new RestoreLimits(333, 12, 12)).close();
    }
}
