// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.Send;
import io.bulla.runtime.oob.cut.CutName;
import io.bulla.runtime.oob.security.Security;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Ranks go on together, from one checkpoint of one job.
class RestoredAloneTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    private static final List<RankEntry> ENTRIES = List.of(new RankEntry(0, 112, 0, "0".repeat(64), "1".repeat(64)));

    @TempDir
    private Path folder;

    private static OobNodeBuilder setup(Job job, int rank) {
        return OobNode.builder(rank, 2)
                .memory(job.source)
                .security(Security.plaintext())
                .peerTimeout(Duration.ofSeconds(1));
    }

    @Test
    void ranksOfTwoEpochsFailWithTheNamesOfBoth() throws Exception {
        CheckpointStore store = FolderStore.of(folder);
        try (Job job = new Job(2).start(store)) {
            CutName[] names = new CutName[2];
            for (int epoch = 1; epoch <= 2; epoch++) {
                job.pay(4);
                job.moves(10);
                Job.done(job.checkpoints.get(0).take(LONG).done());
                try (Restored restored = Checkpoints.restore(store, epoch, 0, job.source, RestoreLimits.DEFAULT)) {
                    names[epoch - 1] = restored.name();
                }
            }
            assertEquals(1, names[0].epoch());
            assertNotEquals(names[0].attempt(), names[1].attempt());
            try (Restored older = Checkpoints.restore(store, 1, 0, job.source, RestoreLimits.DEFAULT);
                    Restored newer = Checkpoints.restore(store, 2, 1, job.source, RestoreLimits.DEFAULT);
                    OobNode first = older.resume(setup(job, 0).directory(peer -> null));
                    OobNode second = newer.resume(setup(job, 1).directory(peer -> first.address()))) {
                Send send;
                try (SealedBuffer message = job.bytes(10)) {
                    send = second.send(0, 99, message);
                }
                String why = assertThrows(
                                ExecutionException.class,
                                () -> send.toCompletableFuture().get(60, TimeUnit.SECONDS))
                        .getCause()
                        .getMessage();
                assertTrue(
                        why.contains("peer is restored from another checkpoint: rank=1 " + names[1] + ", rank=0 "
                                + names[0]),
                        why);
            }
            job.addsUp();
        }
    }

    @Test
    void fileOfAnotherAttemptIsRefused() throws Exception {
        CheckpointStore store = FolderStore.of(folder);
        CheckpointArchive archive = CheckpointArchive.of(store);
        try (Job job = new Job(2).start(store)) {
            CheckpointSummary summary =
                    Job.done(job.checkpoints.get(0).take(LONG).done());
            CheckpointManifest manifest = archive.manifest(summary.epoch());
            assertNotEquals(0, manifest.attempt());
            archive.read(manifest, 0, job.source, RestoreLimits.DEFAULT).close();
            CheckpointManifest other = new CheckpointManifest(
                    manifest.epoch(), manifest.attempt() + 1, manifest.taken(), manifest.ranks());
            String why = assertThrows(
                            CheckpointException.class, () -> archive.read(other, 0, job.source, RestoreLimits.DEFAULT))
                    .getMessage();
            assertTrue(
                    why.contains("file of another attempt: attempt=" + Long.toHexString(manifest.attempt())
                            + " expected=" + Long.toHexString(other.attempt())),
                    why);
            job.addsUp();
        }
    }

    @Test
    void manifestSaysItsAttempt() throws Exception {
        CheckpointManifest manifest = new CheckpointManifest(7, 0xabcL, Images.TAKEN, ENTRIES);
        byte[] bytes = bytes(manifest);
        String text = new String(bytes, StandardCharsets.US_ASCII);
        assertTrue(text.startsWith("bulla-checkpoint 2\nepoch 7\nattempt 0000000000000abc\ntaken "), text);
        assertEquals(manifest, CheckpointManifest.parse(7, bytes));
        CheckpointManifest unnamed = new CheckpointManifest(7, Images.TAKEN, ENTRIES);
        assertTrue(new String(bytes(unnamed), StandardCharsets.US_ASCII)
                .startsWith("bulla-checkpoint 1\nepoch 7\ntaken "));
        assertEquals(unnamed, CheckpointManifest.parse(7, bytes(unnamed)));
    }

    private static byte[] bytes(CheckpointManifest manifest) {
        ByteBuffer text = manifest.toBytes();
        byte[] bytes = new byte[text.remaining()];
        text.get(bytes);
        return bytes;
    }
}
