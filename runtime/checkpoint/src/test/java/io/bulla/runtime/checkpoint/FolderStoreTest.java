// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemorySource;
import io.bulla.testkit.NoOpenHandles;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Crashes and failures at every step of a checkpoint.
@ExtendWith(NoOpenHandles.class)
class FolderStoreTest {

    private static final int CHANCES = 20;

    private ForgetfulDisk disk = new ForgetfulDisk();

    private FolderStore store() {
        return new FolderStore(ForgetfulDisk.ROOT, disk);
    }

    private CheckpointArchive archive() {
        return CheckpointArchive.of(store());
    }

    private void whole(MemorySource source, long epoch) throws IOException {
        archive().publish(Images.write(archive(), source, epoch));
    }

    /// The second checkpoint, and the end of the first.
    private void work(MemorySource source, boolean[] published) throws IOException {
        whole(source, 2);
        published[0] = true;
        store().delete(1);
    }

    @Test
    void crashAtAnyStepLeavesACheckpointThatIsWhole(MemorySource source) throws IOException {
        assertNull(firstLoss(source));
    }

    @ParameterizedTest
    @ValueSource(strings = {"force of a file", "force of a folder", "force of the root"})
    void eachForceIsNeeded(String ignored, MemorySource source) throws IOException {
        disk.ignored.add(ignored);
        String loss = firstLoss(source);
        assertTrue(loss != null, "nothing is lost without the " + ignored);
    }

    /// @return what is lost, or `null`
    private String firstLoss(MemorySource source) throws IOException {
        var ignored = disk.ignored;
        long steps = 1;
        for (long step = 0; step < steps; step++) {
            disk = new ForgetfulDisk();
            whole(source, 1);
            disk.ignored.addAll(ignored);
            boolean[] published = {false};
            disk.crashAt(step);
            boolean crashed = false;
            try {
                work(source, published);
            } catch (ForgetfulDisk.Crash crash) {
                crashed = true;
            }
            steps = crashed ? step + 2 : steps;
            ForgetfulDisk before = disk;
            for (int seed = -1; seed < CHANCES; seed++) {
                disk = before.recovered(seed < 0 ? null : new Random(seed * 1_000L + step));
                String loss = loss(source, published[0]);
                if (loss != null) {
                    return "step=" + step + " seed=" + seed + " " + loss;
                }
            }
        }
        assertTrue(steps > 30, "steps=" + steps);
        return null;
    }

    private String loss(MemorySource source, boolean published) throws IOException {
        CheckpointManifest latest;
        try {
            latest = archive().latest().orElse(null);
        } catch (IOException damaged) {
            return damaged.getMessage();
        }
        if (latest == null) {
            return "no checkpoint is left";
        }
        if (published && latest.epoch() != 2) {
            return "a published checkpoint is not there";
        }
        try {
            Images.check(archive(), source, latest);
            // and the next one can be taken, also in the place of what was left
            whole(source, store().nextEpoch());
            if (!published && latest.epoch() == 1) {
                store().delete(2);
                whole(source, 2);
            }
        } catch (IOException damaged) {
            return damaged.getMessage();
        }
        return null;
    }

    @Test
    void failureAtAnyStepIsNamedAndLeavesTheFormerCheckpoint(MemorySource source) throws IOException {
        long steps = 1;
        for (long step = 0; step < steps; step++) {
            disk = new ForgetfulDisk();
            whole(source, 1);
            disk.failAt(step, new IOException("No space left on device"));
            try {
                whole(source, 2);
            } catch (CheckpointException full) {
                steps = step + 2;
                String message = full.getMessage();
                assertTrue(
                        message.matches("cannot write checkpoint: epoch=2 file=(rank-0000[01].bulla|MANIFEST)"
                                + " reason=No space left on device"),
                        message);
            }
            CheckpointManifest latest = archive().latest().orElseThrow();
            Images.check(archive(), source, latest);
            if (latest.epoch() == 1) {
                List<String> left = disk.exists(folder()) ? disk.list(folder()) : List.of();
                assertTrue(left.stream().noneMatch(name -> name.endsWith(".part")), () -> left.toString());
                store().delete(2);
                whole(source, 2);
            }
        }
        assertTrue(steps > 20, "steps=" + steps);
    }

    private static Path folder() {
        return ForgetfulDisk.ROOT.resolve("checkpoint-000000000002");
    }

    @Test
    void folderThatMayNotBeWrittenIsNamed(MemorySource source) {
        // behind the force of the root's parent
        disk.failAt(1, new AccessDeniedException("store"));
        assertEquals(
                "cannot write checkpoint: epoch=2 file=rank-00000.bulla reason=access denied",
                assertThrows(CheckpointException.class, () -> whole(source, 2)).getMessage());
    }

    @Test
    void rootThatTheStoreMadeSurvivesACrash(MemorySource source) throws IOException {
        disk = ForgetfulDisk.empty();
        whole(source, 1);
        disk = disk.recovered(null);
        Images.check(archive(), source, archive().latest().orElseThrow());
    }

    @Test
    void parentsThatTheStoreMadeSurviveACrash(MemorySource source) throws IOException {
        Path deep = Path.of("a", "b", "store");
        disk = ForgetfulDisk.empty();
        CheckpointArchive archive = CheckpointArchive.of(new FolderStore(deep, disk));
        archive.publish(Images.write(archive, source, 1));
        CheckpointArchive left = CheckpointArchive.of(new FolderStore(deep, disk.recovered(null)));
        assertEquals(1, left.latest().orElseThrow().epoch());
    }

    @Test
    void parentThatMayNotBeOpenedIsNotForced(MemorySource source) throws IOException {
        disk.failAt(0, new AccessDeniedException("parent"));
        whole(source, 1);
        assertEquals(1, archive().latest().orElseThrow().epoch());
    }

    @Test
    void whatIsNotOursIsLeft(@TempDir Path folder, MemorySource source) throws IOException {
        FolderStore store = FolderStore.of(folder);
        Files.createDirectories(folder.resolve("checkpoint-42"));
        Files.createDirectories(folder.resolve("checkpoint-0000000000007"));
        Files.createDirectories(folder.resolve("checkpoint-9999999999999999999"));
        Files.createDirectories(folder.resolve("checkpoint-000000000005"));
        Files.writeString(folder.resolve("notes"), "mine");
        assertEquals(List.of(), store.epochs());
        assertEquals(6, store.nextEpoch());
        assertThrows(IllegalArgumentException.class, () -> store.create(-1, 0));
        FolderStore missing = FolderStore.of(folder.resolve("missing"));
        assertEquals(
                "cannot list checkpoints: folder=" + missing + " reason=no such file",
                assertThrows(CheckpointException.class, missing::epochs).getMessage());
        FolderStore file = FolderStore.of(folder.resolve("notes"));
        assertEquals(
                "cannot list checkpoints: folder=" + file + " reason=not a folder",
                assertThrows(CheckpointException.class, file::nextEpoch).getMessage());
    }

    @Test
    void fileThatIsNotPublishedIsGone(@TempDir Path folder, MemorySource source) throws IOException {
        FolderStore store = FolderStore.of(folder);
        try (CheckpointStore.RankFile file = store.create(1, 0)) {
            assertTrue(file.isOpen());
        }
        try (var left = Files.list(folder.resolve("checkpoint-000000000001"))) {
            assertEquals(0, left.count());
        }
    }
}
