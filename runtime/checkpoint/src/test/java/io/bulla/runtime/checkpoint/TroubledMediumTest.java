// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Checkpoints of nodes that go on, into a medium that is full, or may not be written: refused by name, the former
/// checkpoint as it was, no half file, and the next one is taken when the medium is well again.
class TroubledMediumTest {

    private static final Duration LONG = Duration.ofSeconds(60);
    private static final String FULL = "No space left on device";
    private static final long PATIENCE_NANOS = 60_000_000_000L;
    private static final String READ_ONLY = "Read-only file system";

    /// What goes wrong with a medium, and then does not any more.
    private interface Medium {

        CheckpointStore store();

        Path folder();

        void fill() throws Exception;

        void free() throws Exception;

        void freeze() throws Exception;

        void thaw() throws Exception;
    }

    private static void troublesAreNamed(Medium medium) throws Exception {
        CheckpointStore store = medium.store();
        try (Job job = new Job(3).start(store)) {
            job.pay(30);
            Job.done(job.checkpoints.get(0).take(LONG).done());
            medium.fill();
            refused(job, medium, FULL);
            medium.free();
            Job.done(job.checkpoints.get(1).take(LONG).done());
            medium.freeze();
            refused(job, medium, READ_ONLY);
            medium.thaw();
            job.moves(50);
            Job.done(job.checkpoints.get(2).take(LONG).done());
            job.moves(50);
            job.restore(store);
            job.addsUp();
        }
    }

    private static void refused(Job job, Medium medium, String reason) throws Exception {
        CheckpointArchive archive = CheckpointArchive.of(medium.store());
        CheckpointManifest former = archive.latest().orElseThrow();
        String message = assertInstanceOf(
                        CheckpointException.class,
                        assertThrows(
                                        ExecutionException.class,
                                        () -> Job.done(job.checkpoints
                                                .get(0)
                                                .take(LONG)
                                                .done()))
                                .getCause())
                .getMessage();
        long epoch = former.epoch() + 1;
        assertTrue(
                message.matches("checkpoint aborted: epoch=" + epoch + " state=(CUTTING|WRITING) missing=\\[.*\\] "
                        + "reason=(rank [012]: )?cannot write checkpoint: epoch=" + epoch
                        + " file=(rank-0000[012].bulla|MANIFEST) reason=" + reason),
                message);
        assertEquals(former.epoch(), archive.latest().orElseThrow().epoch());
        archive.verify(former);
        noneIsHalf(medium.folder());
        // nodes go on
        job.moves(50);
    }

    /// The ticket tells of the first rank that failed; another one may write for a moment yet, and lets go then.
    private static void noneIsHalf(Path folder) throws Exception {
        List<Path> half = half(folder);
        for (long start = System.nanoTime(); !half.isEmpty() && System.nanoTime() - start < PATIENCE_NANOS; ) {
            Thread.sleep(10);
            half = half(folder);
        }
        assertEquals(List.of(), half);
    }

    private static List<Path> half(Path folder) throws IOException {
        try (var files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".part")).toList();
        } catch (UncheckedIOException goneMeanwhile) {
            return List.of(folder);
        }
    }

    /// The file system, but for what it says of writes.
    private static final class Troubled implements Disk {

        private final Disk disk = new RealDisk();
        // volatile: set by the test, read by the stores' threads
        private volatile String trouble = "";
        // volatile: as above; nothing can be deleted
        private volatile boolean keeps;

        private void check(Path file) throws IOException {
            if (!trouble.isEmpty()) {
                throw new FileSystemException(file.toString(), null, trouble);
            }
        }

        private void checkReadOnly(Path file) throws IOException {
            if (!trouble.equals(FULL)) {
                check(file);
            }
        }

        @Override
        public void createFolder(Path folder) throws IOException {
            checkReadOnly(folder);
            disk.createFolder(folder);
        }

        @Override
        public String attempt() {
            return disk.attempt();
        }

        @Override
        public Output create(Path file) throws IOException {
            checkReadOnly(file);
            Output out = disk.create(file);
            return new Output() {
                @Override
                public void force() throws IOException {
                    out.force();
                }

                @Override
                public int write(ByteBuffer bytes) throws IOException {
                    check(file);
                    return out.write(bytes);
                }

                @Override
                public long write(ByteBuffer[] bytes, int offset, int length) throws IOException {
                    check(file);
                    return out.write(bytes, offset, length);
                }

                @Override
                public long write(ByteBuffer[] bytes) throws IOException {
                    check(file);
                    return out.write(bytes);
                }

                @Override
                public boolean isOpen() {
                    return out.isOpen();
                }

                @Override
                public void close() throws IOException {
                    out.close();
                }
            };
        }

        @Override
        public ReadableByteChannel open(Path file) throws IOException {
            return disk.open(file);
        }

        @Override
        public MemorySegment map(Path file) throws IOException {
            return disk.map(file);
        }

        @Override
        public void rename(Path from, Path to) throws IOException {
            checkReadOnly(to);
            disk.rename(from, to);
        }

        @Override
        public void forceFolder(Path folder) throws IOException {
            disk.forceFolder(folder);
        }

        @Override
        public void delete(Path path) throws IOException {
            if (keeps) {
                throw new FileSystemException(path.toString(), null, READ_ONLY);
            }
            checkReadOnly(path);
            disk.delete(path);
        }

        @Override
        public boolean exists(Path path) {
            return disk.exists(path);
        }

        @Override
        public List<String> list(Path folder) throws IOException {
            return disk.list(folder);
        }
    }

    @Test
    void fullAndReadOnlyMediumIsNamedAndLeavesTheFormerCheckpoint(@TempDir Path folder) throws Exception {
        Troubled disk = new Troubled();
        troublesAreNamed(new Medium() {
            @Override
            public CheckpointStore store() {
                return new FolderStore(folder, disk);
            }

            @Override
            public Path folder() {
                return folder;
            }

            @Override
            public void fill() {
                disk.trouble = FULL;
            }

            @Override
            public void free() {
                disk.trouble = "";
            }

            @Override
            public void freeze() {
                disk.trouble = READ_ONLY;
            }

            @Override
            public void thaw() {
                disk.trouble = "";
            }
        });
    }

    @Test
    void olderCheckpointThatCannotBeDeletedIsALineOfTheLog(@TempDir Path folder) throws Exception {
        Troubled disk = new Troubled();
        CheckpointStore store = new FolderStore(folder, disk);
        BlockingQueue<LogRecord> log = new LinkedBlockingQueue<>();
        Logger logger = Logger.getLogger("io.bulla.runtime.checkpoint");
        Handler listener = listener(log);
        logger.addHandler(listener);
        try (Job job = new Job(2).start(store)) {
            Job.done(job.checkpoints.get(0).take(LONG).done());
            Job.done(job.checkpoints.get(0).take(LONG).done());
            disk.keeps = true;
            Job.done(job.checkpoints.get(0).take(LONG).done());
            LogRecord record = log.poll(60, TimeUnit.SECONDS);
            assertEquals(
                    "older checkpoints are left: epoch=3 rank=0 reason=cannot delete checkpoint: epoch=1"
                            + " file=checkpoint-000000000001 reason=" + READ_ONLY,
                    record.getMessage());
            assertNull(record.getThrown());
            disk.keeps = false;
        } finally {
            logger.removeHandler(listener);
        }
    }

    private static Handler listener(BlockingQueue<LogRecord> log) {
        return new Handler() {
            @Override
            public void publish(LogRecord line) {
                log.add(line);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
    }

    /// `./check checkpoint` mounts one, in a name space of its own.
    @Test
    void realFileSystemThatIsFullOrReadOnlyIsNamed() throws Exception {
        String disk = System.getProperty("bulla.small-disk");
        Piece.LONG_CHECK.orSkip(disk == null ? "./check checkpoint" : null);
        Path mount = Path.of(disk);
        Path folder = Files.createDirectory(mount.resolve("checkpoints"));
        Path filling = mount.resolve("filling");
        troublesAreNamed(new Medium() {
            @Override
            public CheckpointStore store() {
                return FolderStore.of(folder);
            }

            @Override
            public Path folder() {
                return folder;
            }

            @Override
            public void fill() throws IOException {
                try (var out = Files.newOutputStream(filling)) {
                    while (true) {
                        out.write(new byte[1 << 12]);
                    }
                } catch (IOException full) {
                    assertEquals(FULL, full.getMessage());
                }
            }

            @Override
            public void free() throws IOException {
                Files.delete(filling);
            }

            @Override
            public void freeze() throws Exception {
                remount("ro");
            }

            @Override
            public void thaw() throws Exception {
                remount("rw");
            }

            private void remount(String how) throws Exception {
                Process process = new ProcessBuilder("mount", "-o", "remount," + how, mount.toString())
                        .inheritIO()
                        .start();
                assertEquals(0, process.waitFor());
            }
        });
        System.out.println("disk: full=named read-only=named former=whole");
    }
}
