// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.checkpoint.CheckpointArchive;
import io.bulla.runtime.checkpoint.CheckpointManifest;
import io.bulla.runtime.checkpoint.CheckpointOptions;
import io.bulla.runtime.checkpoint.CheckpointStore;
import io.bulla.runtime.checkpoint.Checkpoints;
import io.bulla.runtime.checkpoint.FolderStore;
import io.bulla.runtime.checkpoint.RestoreLimits;
import io.bulla.runtime.checkpoint.Restored;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/// How long a node that goes on from a checkpoint needs until its first handler runs: 1,000 messages of 64 KiB have
/// arrived and were not handled. First reading the file, reading it into fresh memory with a CRC32C of all of it, and
/// going on, each after the system was told to drop it from its cache, with `dd`: as it is after a machine went down.
/// Then by turns, all from the system's cache: the file is read, and nothing else; read and held against the
/// manifest; going on; going on from the mapped file, without a copy; and a node that starts with nothing and sends
/// itself one such message.
///
/// Prints the median of each in milliseconds.
public final class RestoreCost {

    private static final int TAG = 1;
    private static final int MESSAGES = 1000;
    private static final int BYTES = 64 << 10;
    private static final int CHUNK = 1 << 20;
    private static final long SECONDS = 60;

    private RestoreCost() {}

    /// @param args a folder for the checkpoint, which is made
    public static void main(String[] args) throws Exception {
        FolderStore store = FolderStore.of(Path.of(args[0]));
        Effort effort = Effort.ofProcess();
        try (ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), null);
                SealedBuffer message = Job.message(source, BYTES)) {
            take(source, store, message);
            CheckpointManifest manifest = CheckpointArchive.of(store).latest().orElseThrow();
            ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK);
            for (long start = System.nanoTime(); !effort.isWarm(start); ) {
                read(store, manifest, chunk);
                CheckpointArchive.of(store).verify(manifest);
                restore(source, read(source, store));
            }
            double[][] millis = new double[8][effort.rounds];
            // before it is mapped: what is mapped is not dropped
            List<Path> files = files(Path.of(args[0]));
            for (int i = 0; i < effort.rounds; i++) {
                drop(files);
                long begun = System.nanoTime();
                read(store, manifest, chunk);
                millis[0][i] = since(begun);
                drop(files);
                begun = System.nanoTime();
                readFresh(store, manifest);
                millis[7][i] = since(begun);
                drop(files);
                begun = System.nanoTime();
                millis[1][i] = restore(source, read(source, store)) - begun / 1e6;
            }
            print("read-cold", millis[0]);
            print("fresh-cold", millis[7]);
            print("restore-cold", millis[1]);
            for (long start = System.nanoTime(); !effort.isWarm(start); ) {
                restore(source, map(store));
                start(source, message);
            }
            for (int i = 0; i < effort.rounds; i++) {
                long begun = System.nanoTime();
                read(store, manifest, chunk);
                millis[2][i] = since(begun);
                begun = System.nanoTime();
                CheckpointArchive.of(store).verify(manifest);
                millis[3][i] = since(begun);
                begun = System.nanoTime();
                millis[4][i] = restore(source, read(source, store)) - begun / 1e6;
                begun = System.nanoTime();
                millis[5][i] = restore(source, map(store)) - begun / 1e6;
                begun = System.nanoTime();
                millis[6][i] = start(source, message) - begun / 1e6;
            }
            print("read", millis[2]);
            print("verify", millis[3]);
            print("restore", millis[4]);
            print("map", millis[5]);
            print("start", millis[6]);
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).toList();
        }
    }

    /// Tells the system to drop files from its cache.
    private static void drop(List<Path> files) throws IOException, InterruptedException {
        for (Path file : files) {
            int status = new ProcessBuilder("dd", "of=" + file, "oflag=nocache", "conv=notrunc,fdatasync", "count=0")
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
            if (status != 0) {
                throw new IOException("dd cannot drop a file from the cache: file=" + file + " status=" + status);
            }
        }
    }

    private static double since(long begun) {
        return (System.nanoTime() - begun) / 1e6;
    }

    private static void print(String what, double[] millis) {
        System.out.println(what + String.format(Locale.ROOT, " ms=%.3f", Medians.of(millis)));
    }

    /// A job of one node, which has sent itself a message that no handler takes yet.
    private static void take(ArenaSource source, FolderStore store, SealedBuffer message) throws Exception {
        try (OobNode node = OobNode.builder(0, 1)
                        .memory(source)
                        .security(Security.plaintext())
                        .directory(peer -> null)
                        .unclaimedLimit(2L * MESSAGES * BYTES)
                        .queuePerPeer(2 * MESSAGES, 2L * MESSAGES * BYTES)
                        .start();
                Checkpoints checkpoints = Checkpoints.of(node, store, CheckpointOptions.DEFAULT)) {
            for (int i = 0; i < MESSAGES; i++) {
                node.send(0, TAG, message);
            }
            while (node.unclaimedBytes() < (long) MESSAGES * BYTES) {
                Thread.sleep(1);
            }
            checkpoints
                    .take(Duration.ofSeconds(SECONDS))
                    .done()
                    .toCompletableFuture()
                    .get(SECONDS, TimeUnit.SECONDS);
        }
    }

    private static void read(CheckpointStore store, CheckpointManifest manifest, ByteBuffer chunk) throws IOException {
        try (ReadableByteChannel in = store.rank(manifest.epoch(), 0)) {
            while (in.read(chunk.clear()) >= 0) {
                // the rival of all else
            }
        }
    }

    /// What a restore cannot do without: memory for the messages, their bytes in it, and a look at each of them.
    private static void readFresh(CheckpointStore store, CheckpointManifest manifest) throws IOException {
        CRC32C sum = new CRC32C();
        try (Arena arena = Arena.ofConfined();
                ReadableByteChannel in = store.rank(manifest.epoch(), 0)) {
            ByteBuffer chunk = arena.allocate(CHUNK).asByteBuffer();
            while (in.read(chunk) >= 0) {
                if (!chunk.hasRemaining()) {
                    sum.update(chunk.flip());
                    chunk = arena.allocate(CHUNK).asByteBuffer();
                }
            }
            sum.update(chunk.flip());
        }
        if (sum.getValue() == 0) {
            throw new IllegalStateException("the file has no content: " + manifest);
        }
    }

    private static Restored read(ArenaSource source, FolderStore store) throws IOException {
        return Checkpoints.restoreLatest(store, 0, source, RestoreLimits.DEFAULT)
                .orElseThrow();
    }

    private static Restored map(FolderStore store) throws IOException {
        return Checkpoints.mapLatest(store, 0, RestoreLimits.DEFAULT).orElseThrow();
    }

    /// @return when the first handler runs, in milliseconds of [System#nanoTime]
    private static double start(ArenaSource source, SealedBuffer message) throws Exception {
        CompletableFuture<Long> first = new CompletableFuture<>();
        try (OobNode node = OobNode.builder(0, 1)
                .memory(source)
                .security(Security.plaintext())
                .directory(peer -> null)
                .receive(TAG, arrived -> first.complete(System.nanoTime()))
                .start()) {
            node.send(0, TAG, message);
            return first.get(SECONDS, TimeUnit.SECONDS) / 1e6;
        }
    }

    /// @return when the first handler runs, in milliseconds of [System#nanoTime]
    private static double restore(ArenaSource source, Restored read) throws Exception {
        CompletableFuture<Long> first = new CompletableFuture<>();
        try (Restored restored = read;
                OobNode node = restored.resume(OobNode.builder(0, 1)
                        .memory(source)
                        .security(Security.plaintext())
                        .directory(peer -> null)
                        .receive(TAG, message -> first.complete(System.nanoTime())))) {
            return first.get(SECONDS, TimeUnit.SECONDS) / 1e6;
        }
    }
}
