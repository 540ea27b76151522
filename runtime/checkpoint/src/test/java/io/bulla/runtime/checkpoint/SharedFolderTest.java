// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemorySource;
import io.bulla.testkit.NoOpenHandles;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// What other users, and damage, may do to a folder of checkpoints.
@ExtendWith(NoOpenHandles.class)
class SharedFolderTest {

    private static final String EPOCH_1 = "checkpoint-000000000001";
    private static final String EPOCH_2 = "checkpoint-000000000002";

    @TempDir
    private Path parent;

    private Path root;
    private FolderStore store;
    private CheckpointArchive archive;

    @BeforeEach
    void openStore() {
        root = parent.resolve("checkpoints");
        store = FolderStore.of(root);
        archive = CheckpointArchive.of(store);
    }

    private void whole(MemorySource source, long epoch) throws IOException {
        archive.publish(Images.write(archive, source, epoch));
    }

    private static void flipOneBit(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length / 2] ^= 1;
        Files.write(file, bytes);
    }

    @Test
    void damagedNewestManifestIsRefusedAndTheOlderOnesAreNamed(MemorySource source) throws IOException {
        whole(source, 1);
        whole(source, 2);
        Path manifest = root.resolve(EPOCH_2 + "/MANIFEST");
        flipOneBit(manifest);
        String message =
                assertThrows(CheckpointException.class, archive::latest).getMessage();
        assertTrue(message.startsWith("checkpoint is damaged: epoch=2 file=MANIFEST "), message);
        assertTrue(message.endsWith("; older ones: epochs=[1]"), message);
        assertEquals(1, archive.manifest(1).epoch());
        Files.delete(manifest);
        assertEquals(1, archive.latest().orElseThrow().epoch());
        flipOneBit(root.resolve(EPOCH_1 + "/MANIFEST"));
        assertTrue(assertThrows(CheckpointException.class, archive::latest)
                .getMessage()
                .endsWith("; there is no older one"));
    }

    @Test
    void lastEpochHasNoNextOne() throws IOException {
        Files.createDirectories(root.resolve("checkpoint-" + Long.MAX_VALUE));
        assertEquals(
                "no epoch is left: folder=" + root + " newest=" + Long.MAX_VALUE,
                assertThrows(CheckpointException.class, store::nextEpoch).getMessage());
    }

    @Test
    void otherUsersMayReadNothing(MemorySource source) throws IOException {
        whole(source, 1);
        try (Stream<Path> all = Files.walk(root)) {
            for (Path each : all.toList()) {
                assertEquals(
                        Files.isDirectory(each) ? "rwx------" : "rw-------",
                        PosixFilePermissions.toString(Files.getPosixFilePermissions(each)),
                        each::toString);
            }
        }
    }

    /// A name that is known beforehand; those of parts are not.
    @Test
    void linkIsNotWrittenThrough(MemorySource source) throws IOException {
        Path others = Files.writeString(parent.resolve("others"), "others");
        Path folder = Files.createDirectories(root.resolve(EPOCH_1));
        Files.createSymbolicLink(folder.resolve("rank-00000.bulla.part"), others);
        Files.createSymbolicLink(folder.resolve("rank-00000.bulla"), others);
        assertEquals(
                "cannot write checkpoint: epoch=1 file=rank-00000.bulla reason=file exists already",
                assertThrows(CheckpointException.class, () -> whole(source, 1)).getMessage());
        assertEquals("others", Files.readString(others));
        assertThrows(
                FileAlreadyExistsException.class, () -> new RealDisk().create(folder.resolve("rank-00000.bulla.part")));
        assertEquals("others", Files.readString(others));
    }

    /// Each step of one, with all of the other's between.
    @Test
    void secondJobInTheFolderDestroysNothingThatWasPublished(MemorySource source) throws IOException {
        CheckpointArchive other = CheckpointArchive.of(FolderStore.of(root));
        CheckpointManifest ours = Images.write(archive, source, 1);
        assertEquals(
                "cannot write checkpoint: epoch=1 file=rank-00000.bulla reason=file exists already",
                assertThrows(CheckpointException.class, () -> Images.write(other, source, 1))
                        .getMessage());
        archive.publish(ours);
        assertThrows(CheckpointException.class, () -> Images.write(other, source, 1));
        archive.verify(archive.latest().orElseThrow());
        Images.check(archive, source, archive.latest().orElseThrow());
        try (Stream<Path> files = Files.list(root.resolve(EPOCH_1))) {
            assertEquals(
                    List.of("MANIFEST", "rank-00000.bulla", "rank-00001.bulla"),
                    files.map(each -> each.getFileName().toString()).sorted().toList());
        }
    }

    @Test
    void fileSystemWithoutHardLinksRenamesInPlaceOfNothing() throws IOException {
        RealDisk disk = new RealDisk((to, from) -> {
            throw new FileSystemException(to.toString(), from.toString(), "Operation not permitted");
        });
        Path from = Files.writeString(parent.resolve("from"), "ours");
        Path to = parent.resolve("to");
        disk.rename(from, to);
        assertEquals("ours", Files.readString(to));
        assertFalse(Files.exists(from));
        Files.writeString(from, "second");
        FileAlreadyExistsException taken = assertThrows(FileAlreadyExistsException.class, () -> disk.rename(from, to));
        assertTrue(taken.getSuppressed()[0].getMessage().contains("Operation not permitted"));
        assertEquals("ours", Files.readString(to));
    }

    @Test
    void checkpointWhoseFilesAnotherJobDeletedIsNotSaidToBePublished(MemorySource source) throws IOException {
        CheckpointManifest ours = Images.write(archive, source, 1);
        FolderStore.of(root).delete(1);
        assertThrows(CheckpointException.class, () -> archive.publish(ours));
        assertTrue(archive.latest().isEmpty());
    }

    @Test
    void folderThatIsALinkIsRefused(MemorySource source) throws IOException {
        Path others = Files.createDirectory(parent.resolve("others"));
        Path manifest = Files.writeString(others.resolve("MANIFEST"), "others");
        Path rank = Files.writeString(others.resolve("rank-00000.bulla"), "others");
        Files.createDirectory(root);
        Files.createSymbolicLink(root.resolve(EPOCH_1), others);
        String refused =
                assertThrows(CheckpointException.class, () -> store.delete(1)).getMessage();
        assertEquals(
                "cannot delete checkpoint: epoch=1 file=" + EPOCH_1 + " reason=folder is a symbolic link", refused);
        assertThrows(CheckpointException.class, () -> whole(source, 1));
        assertEquals("others", Files.readString(manifest));
        assertEquals("others", Files.readString(rank));
    }

    @Test
    void folderWithFilesOfOthersIsNotDeleted(MemorySource source) throws IOException {
        whole(source, 1);
        Path note = Files.writeString(root.resolve(EPOCH_1 + "/note.txt"), "keep");
        byte[] before = Files.readAllBytes(root.resolve(EPOCH_1 + "/rank-00000.bulla"));
        assertEquals(
                "cannot delete checkpoint: epoch=1 file=" + EPOCH_1 + " reason=files of others in it: [note.txt]",
                assertThrows(CheckpointException.class, () -> store.delete(1)).getMessage());
        assertArrayEquals(before, Files.readAllBytes(root.resolve(EPOCH_1 + "/rank-00000.bulla")));
        assertEquals(List.of(1L), store.epochs());
        Files.delete(note);
        store.delete(1);
        assertFalse(Files.exists(root.resolve(EPOCH_1)));
    }
}
