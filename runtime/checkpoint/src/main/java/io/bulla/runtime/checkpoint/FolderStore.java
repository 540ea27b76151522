// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Checkpoints in a folder, which several processes may share.
///
/// ```
/// folder/checkpoint-000000000042/     rank-00000.bulla   rank-00001.bulla ...   MANIFEST
/// ```
///
/// Each file is written under another name, forced to the medium, renamed, and its folder forced. A folder without a
/// `MANIFEST` is no checkpoint. So the system may crash at any step: what was a checkpoint still is one, and what was
/// not is none.
///
/// A folder is for one job. Should two have it, none of them replaces or deletes a file that the other one has
/// published: the second to publish a file of an epoch fails by name.
///
/// Folders and files that it makes are open to their owner alone (0700, 0600), and symbolic links below the folder
/// are refused. Deleted is what a checkpoint consists of; with anything else in its folder it is not.
public final class FolderStore implements CheckpointStore {

    private static final String MANIFEST = FileNames.MANIFEST;
    private static final String PART = ".part";
    // as many digits as a long may have, so that an epoch has one name
    private static final Pattern OWN = Pattern.compile("(MANIFEST|rank-[0-9]+[.]bulla)([.][-A-Za-z0-9]+)?([.]part)?");
    private static final Pattern FOLDER = Pattern.compile("checkpoint-([0-9]{12,19})");

    private final Path root;
    private final Disk disk;
    // a thread that does not see it set forces once more
    private boolean rootForced;

    FolderStore(Path root, Disk disk) {
        this.root = root;
        this.disk = disk;
    }

    /// Checkpoints in this folder.
    ///
    /// @param folder is made when the first checkpoint is, if it is missing then
    /// @return a store without anything to close
    public static FolderStore of(Path folder) {
        return new FolderStore(folder, new RealDisk());
    }

    @Override
    public RankFile create(long epoch, int rank) throws IOException {
        Path folder = folder(epoch);
        String name = FileNames.rank(rank);
        try {
            createRoot();
            checkNoLink(folder);
            disk.createFolder(folder);
            // also if another process has made it, and was ended before this
            disk.forceFolder(root);
            if (disk.exists(folder.resolve(MANIFEST))) {
                throw new IOException("checkpoint exists already");
            }
            return FolderRankFile.create(disk, epoch, folder.resolve(name));
        } catch (IOException failure) {
            throw CheckpointException.failed("cannot write checkpoint", epoch, name, failure);
        }
    }

    /// The root's own name is on the medium, too, and those of its parents that are made with it.
    private void createRoot() throws IOException {
        if (!disk.exists(root)) {
            createAndForce(root);
        } else if (!rootForced) {
            // another process has made it, and may have been ended before this
            forceParent(root);
        }
        rootForced = true;
    }

    private void createAndForce(Path folder) throws IOException {
        if (disk.exists(folder)) {
            return;
        }
        if (folder.getParent() != null) {
            createAndForce(folder.getParent());
        }
        disk.createFolder(folder);
        forceParent(folder);
    }

    private void forceParent(Path folder) throws IOException {
        try {
            disk.forceFolder(folder.resolveSibling(""));
        } catch (AccessDeniedException ofAnotherUser) {
            // it may not be opened, so its owner has to have forced it
        }
    }

    @Override
    public void publish(long epoch, ByteBuffer manifest) throws IOException {
        Path file = folder(epoch).resolve(MANIFEST);
        try {
            checkNoLink(folder(epoch));
            if (disk.exists(file)) {
                throw new IOException("checkpoint exists already");
            }
            try (FolderRankFile part = FolderRankFile.create(disk, epoch, file)) {
                while (manifest.hasRemaining()) {
                    part.write(manifest);
                }
                part.publish();
            }
        } catch (CheckpointException named) {
            throw named;
        } catch (IOException failure) {
            throw CheckpointException.failed("cannot write checkpoint", epoch, MANIFEST, failure);
        }
    }

    @Override
    public List<Long> epochs() throws IOException {
        return folders()
                .filter(epoch -> disk.exists(folder(epoch).resolve(MANIFEST)))
                .sorted(Comparator.reverseOrder())
                .toList();
    }

    @Override
    public long nextEpoch() throws IOException {
        if (!disk.exists(root)) {
            return 1;
        }
        long newest = folders().mapToLong(Long::longValue).max().orElse(0);
        if (newest == Long.MAX_VALUE) {
            throw new CheckpointException("no epoch is left: folder=" + root + " newest=" + newest, null);
        }
        return newest + 1;
    }

    private Stream<Long> folders() throws IOException {
        try {
            return disk.list(root).stream().map(FolderStore::epoch).filter(epoch -> epoch >= 0);
        } catch (IOException failure) {
            throw new CheckpointException(
                    "cannot list checkpoints: folder=" + root + " reason=" + CheckpointException.reason(failure),
                    failure);
        }
    }

    /// Another folder of the same number under another name is not ours.
    private static long epoch(String name) {
        var words = FOLDER.matcher(name);
        if (!words.matches()) {
            return -1;
        }
        try {
            long epoch = Long.parseLong(words.group(1));
            return name.equals(folderName(epoch)) ? epoch : -1;
        } catch (NumberFormatException tooLarge) {
            return -1;
        }
    }

    @Override
    public ReadableByteChannel manifest(long epoch) throws IOException {
        return open(epoch, MANIFEST);
    }

    @Override
    public ReadableByteChannel rank(long epoch, int rank) throws IOException {
        return open(epoch, FileNames.rank(rank));
    }

    @Override
    public Optional<MemorySegment> mapped(long epoch, int rank) throws IOException {
        String name = FileNames.rank(rank);
        try {
            return Optional.of(disk.map(folder(epoch).resolve(name)));
        } catch (IOException failure) {
            throw CheckpointException.failed("cannot map checkpoint", epoch, name, failure);
        }
    }

    private ReadableByteChannel open(long epoch, String name) throws IOException {
        try {
            return disk.open(folder(epoch).resolve(name));
        } catch (IOException failure) {
            throw CheckpointException.failed("cannot read checkpoint", epoch, name, failure);
        }
    }

    @Override
    public void delete(long epoch) throws IOException {
        Path folder = folder(epoch);
        try {
            // first: of many epochs that are asked for, most are gone
            if (!disk.exists(folder)) {
                return;
            }
            checkNoLink(folder);
            List<String> others = disk.list(folder).stream()
                    .filter(name -> !OWN.matcher(name).matches())
                    .toList();
            if (!others.isEmpty()) {
                throw new IOException("files of others in it: " + others);
            }
            disk.delete(folder.resolve(MANIFEST));
            disk.forceFolder(folder);
            for (String name : disk.list(folder)) {
                disk.delete(folder.resolve(name));
            }
            disk.delete(folder);
            disk.forceFolder(root);
        } catch (NoSuchFileException goneMeanwhile) {
            // another process deletes it, too
        } catch (IOException failure) {
            throw CheckpointException.failed("cannot delete checkpoint", epoch, folderName(epoch), failure);
        }
    }

    /// A user who may write to the root could lead what is written, or deleted, to somewhere else.
    private void checkNoLink(Path folder) throws IOException {
        if (disk.isLink(folder)) {
            throw new IOException("folder is a symbolic link");
        }
    }

    private Path folder(long epoch) {
        if (epoch < 0) {
            throw new IllegalArgumentException("epoch is negative: epoch=" + epoch);
        }
        return root.resolve(folderName(epoch));
    }

    private static String folderName(long epoch) {
        return String.format(Locale.ROOT, "checkpoint-%012d", epoch);
    }

    /// The folder, as a person looks for it.
    @Override
    public String toString() {
        return root.toString();
    }

    /// A file under another name until it is published. The name is this attempt's alone, so that another job in the
    /// same folder, which has chosen the same epoch, writes to another file.
    private static final class FolderRankFile implements RankFile {

        private final Disk disk;
        private final long epoch;
        private final Path file;
        private final Path part;
        private final Disk.Output out;
        private boolean published;

        private FolderRankFile(Disk disk, long epoch, Path file, Path part, Disk.Output out) {
            this.disk = disk;
            this.epoch = epoch;
            this.file = file;
            this.part = part;
            this.out = out;
        }

        static FolderRankFile create(Disk disk, long epoch, Path file) throws IOException {
            Path part = file.resolveSibling(file.getFileName() + "." + disk.attempt() + PART);
            return new FolderRankFile(disk, epoch, file, part, disk.create(part));
        }

        @Override
        public void publish() throws IOException {
            try {
                out.force();
                out.close();
                disk.rename(part, file);
                published = true;
                disk.forceFolder(folder());
            } catch (IOException failure) {
                throw failed(failure);
            }
        }

        private Path folder() {
            return file.resolveSibling("");
        }

        private String name() {
            return file.getFileName().toString();
        }

        @Override
        public int write(ByteBuffer bytes) throws IOException {
            return (int) write(new ByteBuffer[] {bytes});
        }

        @Override
        public long write(ByteBuffer[] bytes) throws IOException {
            return write(bytes, 0, bytes.length);
        }

        @Override
        public long write(ByteBuffer[] bytes, int offset, int length) throws IOException {
            try {
                return out.write(bytes, offset, length);
            } catch (IOException failure) {
                throw failed(failure);
            }
        }

        private CheckpointException failed(IOException failure) {
            return CheckpointException.failed("cannot write checkpoint", epoch, name(), failure);
        }

        @Override
        public boolean isOpen() {
            return out.isOpen();
        }

        @Override
        public void close() throws IOException {
            try {
                out.close();
            } finally {
                if (!published) {
                    published = true;
                    disk.delete(part);
                }
            }
        }
    }
}
