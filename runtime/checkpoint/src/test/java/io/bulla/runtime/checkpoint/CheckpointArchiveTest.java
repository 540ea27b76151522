// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.testkit.NoOpenHandles;
import io.bulla.testkit.StingySource;
import io.bulla.testkit.heap.HeapCost;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(NoOpenHandles.class)
class CheckpointArchiveTest {

    private final ForgetfulDisk disk = new ForgetfulDisk();
    private final CheckpointArchive archive = CheckpointArchive.of(new FolderStore(ForgetfulDisk.ROOT, disk));

    private static Path file(String name) {
        return ForgetfulDisk.ROOT.resolve("checkpoint-000000000001").resolve(name);
    }

    private CheckpointManifest written(MemorySource source) throws IOException {
        CheckpointManifest manifest = Images.write(archive, source, 1);
        archive.publish(manifest);
        return manifest;
    }

    @Test
    void whatIsReadIsWhatWasWritten(@TempDir Path folder, MemorySource source) throws IOException {
        Path root = folder.resolve("new");
        FolderStore store = FolderStore.of(root);
        CheckpointArchive real = CheckpointArchive.of(store);
        assertEquals(1, store.nextEpoch());
        CheckpointManifest manifest = Images.write(real, source, 1);
        assertEquals(List.of(), store.epochs());
        CheckpointSummary summary = real.publish(manifest);
        assertEquals(2, summary.nodes());
        assertEquals(12, summary.messages());
        assertEquals(
                Files.size(root.resolve("checkpoint-000000000001/rank-00001.bulla")),
                manifest.ranks().get(1).bytes());
        CheckpointManifest latest = real.latest().orElseThrow();
        assertEquals(manifest, latest);
        Images.check(real, source, latest);
        assertEquals(2, store.nextEpoch());
        store.delete(1);
        store.delete(1);
        assertTrue(real.latest().isEmpty());
        try (var left = Files.list(root)) {
            assertEquals(0, left.count());
        }
    }

    @Test
    void fileHasAtMost64BytesForAMessageAnd4KiBBesideTheBytesOfMessages(MemorySource source) throws IOException {
        List<Message> arrived = new ArrayList<>();
        long bytes = 0;
        for (int i = 0; i < 500; i++) {
            arrived.add(new Message(0, 1, Optional.empty(), Images.bytes(source, i, i)));
            bytes += i;
        }
        List<NodeCut.OfPeer> peers = new ArrayList<>();
        NodeCut.OfLane lane = new NodeCut.OfLane(1, 1, 1, List.of());
        for (int peer = 1; peer <= 31; peer++) {
            peers.add(new NodeCut.OfPeer(peer, List.of(lane, lane, lane)));
        }
        try (RankImage image = new RankImage(new NodeCut(0, 32, peers, arrived), new TreeMap<>())) {
            RankEntry entry = archive.write(1, image);
            assertEquals(500, entry.messages());
            assertTrue(entry.bytes() <= bytes + 64 * 500 + 4096, () -> entry.toString());
        }
    }

    @Test
    void manifestOfALineEndAloneIsDamaged() {
        byte[] above = {'\n'};
        MessageDigest digest = Digests.sha256();
        digest.update(above);
        byte[] bytes = ("\nsha256 " + Digests.text(digest) + "\n").getBytes(StandardCharsets.US_ASCII);
        assertEquals(
                "checkpoint is damaged: epoch=1 file=MANIFEST reason=lines are missing",
                assertThrows(CheckpointException.class, () -> CheckpointManifest.parse(1, bytes))
                        .getMessage());
    }

    /// A file of the system is read into the memory of the messages, and not by way of the heap.
    @Test
    void bodiesAreReadInPlace(@TempDir Path folder, MemorySource source) throws IOException {
        CheckpointArchive real = CheckpointArchive.of(FolderStore.of(folder));
        List<Message> arrived = new ArrayList<>();
        arrived.add(new Message(0, 1, Optional.empty(), Images.bytes(source, 0, 1 << 18)));
        RankEntry entry;
        try (RankImage image = new RankImage(new NodeCut(0, 1, List.of(), arrived), new TreeMap<>())) {
            entry = real.write(1, image);
        }
        CheckpointManifest manifest = new CheckpointManifest(1, Images.TAKEN, List.of(entry));
        HeapCost.atMost(1 << 15, () -> {}, _ -> {
            try {
                real.read(manifest, 0, source, RestoreLimits.DEFAULT).close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @Test
    void everyDamagedByteIsRefusedByName(MemorySource source) throws IOException {
        CheckpointManifest manifest = written(source);
        for (String name : List.of("rank-00000.bulla", "rank-00001.bulla", "MANIFEST")) {
            byte[] whole = disk.bytes(file(name));
            for (int at = 0; at < whole.length; at++) {
                for (int mask : new int[] {1, 0x20, 0x80, 0xff}) {
                    byte[] damaged = whole.clone();
                    damaged[at] ^= (byte) mask;
                    refused(source, manifest, name, damaged);
                }
                refused(source, manifest, name, Arrays.copyOf(whole, at));
            }
            refused(source, manifest, name, Arrays.copyOf(whole, whole.length + 1));
            disk.replace(file(name), whole);
        }
        Images.check(archive, source, archive.manifest(1));
    }

    private void refused(MemorySource source, CheckpointManifest manifest, String name, byte[] damaged)
            throws IOException {
        disk.replace(file(name), damaged);
        if (name.equals("MANIFEST")) {
            named(name, assertThrows(CheckpointException.class, () -> archive.manifest(1)));
            return;
        }
        named(name, assertThrows(CheckpointException.class, () -> archive.verify(manifest)));
        int rank = name.equals("rank-00000.bulla") ? 0 : 1;
        named(
                name,
                assertThrows(
                        CheckpointException.class,
                        () -> archive.read(manifest, rank, source, RestoreLimits.DEFAULT)
                                .close()));
        named(
                name,
                assertThrows(
                        CheckpointException.class,
                        () -> archive.map(manifest, rank, RestoreLimits.DEFAULT).close()));
    }

    private static void named(String name, CheckpointException refused) {
        String message = refused.getMessage();
        assertTrue(message.startsWith("checkpoint is damaged: epoch=1 file=" + name + " reason="), message);
    }

    @Test
    void memoryThatRunsOutLeavesNoHandle(MemorySource source) throws IOException {
        CheckpointManifest manifest = written(source);
        int regions = 0;
        while (true) {
            try (RankImage image =
                    archive.read(manifest, 0, new StingySource(source, regions), RestoreLimits.DEFAULT)) {
                assertEquals(6, image.cut().undelivered());
                break;
            } catch (IllegalStateException refused) {
                regions++;
            }
        }
        assertTrue(regions >= 4, "regions=" + regions);
        MemoryBudget budget = new MemoryBudget(200);
        try (ArenaSource small = ArenaSource.builder().budget(budget).build()) {
            assertThrows(MemoryLimitException.class, () -> archive.read(manifest, 0, small, RestoreLimits.DEFAULT));
        }
    }

    @Test
    void limitsAreAskedBeforeMemoryIsTaken(MemorySource source) throws IOException {
        CheckpointManifest manifest = written(source);
        limited("too long: length=333 most=332", source, manifest, new RestoreLimits(332, 100, 100));
        limited("too long: length=12 most=11", source, manifest, new RestoreLimits(333, 11, 100));
        limited("too many records: most=9", source, manifest, new RestoreLimits(333, 12, 9));
        archive.read(manifest, 0, source, new RestoreLimits(333, 12, 12)).close();
        assertThrows(IllegalArgumentException.class, () -> new RestoreLimits(0, -1, 0));
    }

    private void limited(String why, MemorySource source, CheckpointManifest manifest, RestoreLimits limits) {
        String message = assertThrows(CheckpointException.class, () -> archive.read(manifest, 0, source, limits))
                .getMessage();
        assertTrue(message.contains(why), message);
    }

    @Test
    void lengthBeyondTheFileIsNotBelieved(MemorySource source) throws IOException {
        RecordHeader head = new RecordHeader(RecordHeader.Kind.HEAD, 0, 0, 0, 0, 1, 1, 1, 0, 0);
        RecordHeader state = new RecordHeader(RecordHeader.Kind.STATE, 0, 0, 1L << 29, 0, 0, 0, 0, 0, 0);
        try (CheckpointStore.RankFile out = new FolderStore(ForgetfulDisk.ROOT, disk).create(1, 0)) {
            ByteBuffer both = ByteBuffer.allocate(2 * RecordHeader.BYTES)
                    .put(head.toBytes())
                    .put(state.toBytes())
                    .flip();
            while (both.hasRemaining()) {
                out.write(both);
            }
            out.publish();
        }
        CheckpointManifest forged = new CheckpointManifest(
                1,
                Images.TAKEN,
                List.of(RankEntry.of(0, 2 * RecordHeader.BYTES, 0, "0".repeat(64) + " " + "0".repeat(64))));
        String message = assertThrows(
                        CheckpointException.class,
                        () -> archive.read(forged, 0, new StingySource(source, 0), RestoreLimits.DEFAULT))
                .getMessage();
        assertTrue(message.endsWith("reason=length=536870912 left=0 record=56"), message);
    }

    /// The manifest lies, too, and the store does not know how long its file is.
    @Test
    void sizeThatTheManifestSaysIsNotBelieved(@TempDir Path folder) throws IOException {
        for (FolderStore store : List.of(new FolderStore(ForgetfulDisk.ROOT, disk), FolderStore.of(folder))) {
            long large = 1L << 29;
            try (CheckpointStore.RankFile out = store.create(1, 0)) {
                ByteBuffer file = ByteBuffer.allocate(2 * RecordHeader.BYTES + 100)
                        .put(new RecordHeader(RecordHeader.Kind.HEAD, 0, 0, 0, 0, 1, 1, 1, 0, 0).toBytes())
                        .put(new RecordHeader(RecordHeader.Kind.STATE, 0, 0, large, 0, 0, 0, 0, 0, 0).toBytes())
                        .clear();
                while (file.hasRemaining()) {
                    out.write(file);
                }
                out.publish();
            }
            CheckpointManifest forged = new CheckpointManifest(
                    1, Images.TAKEN, List.of(RankEntry.of(0, large + 1000, 0, "0".repeat(64) + " " + "0".repeat(64))));
            try (ArenaSource little = ArenaSource.create(new MemoryBudget(4 << 20), null)) {
                String message = assertThrows(
                                CheckpointException.class,
                                () -> CheckpointArchive.of(store).read(forged, 0, little, RestoreLimits.DEFAULT))
                        .getMessage();
                assertTrue(
                        message.contains("reason=file ends early")
                                || message.contains("reason=size of the file: bytes=212 expected=" + (large + 1000)),
                        message);
            }
        }
    }

    @Test
    void filesOfAnotherCheckpointAreRefused(MemorySource source) throws IOException {
        CheckpointManifest manifest = written(source);
        byte[] other = disk.bytes(file("rank-00001.bulla"));
        disk.replace(file("rank-00000.bulla"), other);
        RankEntry same = RankEntry.of(
                0,
                other.length,
                manifest.ranks().get(1).messages(),
                manifest.ranks().get(1).digests());
        CheckpointManifest mixed = new CheckpointManifest(
                1, Images.TAKEN, List.of(same, manifest.ranks().get(1)));
        String message = assertThrows(
                        CheckpointException.class, () -> archive.read(mixed, 0, source, RestoreLimits.DEFAULT))
                .getMessage();
        assertTrue(message.contains("another file: rank=1 nodes=2 epoch=1"), message);
    }

    @Test
    void fileOfTheSameRankAndEpochWithOtherBytesIsRefused(MemorySource source) throws IOException {
        CheckpointManifest manifest = written(source);
        ForgetfulDisk other = new ForgetfulDisk();
        try (RankImage image = Images.of(source, 0, 5)) {
            RankEntry entry = CheckpointArchive.of(new FolderStore(ForgetfulDisk.ROOT, other))
                    .write(1, image);
            assertEquals(manifest.ranks().getFirst().bytes(), entry.bytes());
            assertEquals(manifest.ranks().getFirst().messages(), entry.messages());
        }
        disk.replace(file("rank-00000.bulla"), other.bytes(file("rank-00000.bulla")));
        String message = assertThrows(
                        CheckpointException.class, () -> archive.read(manifest, 0, source, RestoreLimits.DEFAULT))
                .getMessage();
        assertTrue(message.contains("digest of the headers differs"), message);
        assertThrows(CheckpointException.class, () -> archive.verify(manifest));
    }

    @Test
    void whatIsNoCheckpointIsSaid(MemorySource source) throws IOException {
        assertEquals(
                "cannot read checkpoint: epoch=1 file=MANIFEST reason=no such file",
                assertThrows(CheckpointException.class, () -> archive.manifest(1))
                        .getMessage());
        CheckpointManifest manifest = written(source);
        assertEquals(
                "cannot write checkpoint: epoch=1 file=MANIFEST reason=checkpoint exists already",
                assertThrows(CheckpointException.class, () -> archive.publish(manifest))
                        .getMessage());
        assertThrows(CheckpointException.class, () -> Images.write(archive, source, 1));
        TreeMap<String, SealedBuffer> long1 = new TreeMap<>();
        try (SealedBuffer state = Images.bytes(source, 1, 1)) {
            long1.put("n".repeat(256), state.share());
            try (RankImage image = new RankImage(new NodeCut(0, 1, List.of(), List.of()), long1)) {
                assertThrows(IllegalArgumentException.class, () -> archive.write(2, image));
            }
        }
        assertThrows(IllegalArgumentException.class, () -> new CheckpointManifest(1, Images.TAKEN, List.of()));
        assertThrows(IllegalArgumentException.class, () -> new RankEntry(0, 1, 1, "xyz", "0".repeat(64)));
        assertThrows(IllegalArgumentException.class, () -> archive.read(manifest, 2, source, RestoreLimits.DEFAULT));
    }
}
