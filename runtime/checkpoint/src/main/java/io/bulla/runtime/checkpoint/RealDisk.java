// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/// The file system itself.
final class RealDisk implements Disk {

    /// Of this process, on any machine that sees the folder.
    private static final String PROCESS = UUID.randomUUID().toString();

    private static final AtomicLong ATTEMPTS = new AtomicLong();

    /// Gives a file a second name, as [Files#createLink].
    interface Linker {

        /// @throws FileAlreadyExistsException if the name is taken
        /// @throws FileSystemException if the file system has no second names, among others
        void link(Path to, Path from) throws IOException;
    }

    private final Linker linker;

    RealDisk() {
        this(Files::createLink);
    }

    RealDisk(Linker linker) {
        this.linker = linker;
    }

    @Override
    public void createFolder(Path folder) throws IOException {
        Files.createDirectories(folder, ownersAlone(folder, "rwx------"));
    }

    /// What a checkpoint holds is as secret as what the nodes say to each other.
    private static FileAttribute<?>[] ownersAlone(Path path, String permissions) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
                }
                : new FileAttribute<?>[0];
    }

    @Override
    public Output create(Path file) throws IOException {
        Set<OpenOption> fresh = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        return new OutputFile(FileChannel.open(file, fresh, ownersAlone(file, "rw-------")));
    }

    @Override
    public ReadableByteChannel open(Path file) throws IOException {
        return FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
    }

    @Override
    public MemorySegment map(Path file) throws IOException {
        try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            return in.map(FileChannel.MapMode.READ_ONLY, 0, in.size(), Arena.ofAuto());
        }
    }

    @Override
    public String attempt() {
        // the atomic step alone: no two get the same number
        return PROCESS + "-" + ATTEMPTS.incrementAndGet();
    }

    /// A second name, which the system refuses if it is taken; then the first one goes. `rename` would replace what
    /// is there.
    @Override
    public void rename(Path from, Path to) throws IOException {
        try {
            linker.link(to, from);
        } catch (FileAlreadyExistsException | NoSuchFileException | AccessDeniedException known) {
            throw known;
        } catch (FileSystemException | UnsupportedOperationException noLinks) {
            moveWithoutLinks(from, to, noLinks);
            return;
        }
        Files.delete(from);
    }

    /// Fails if the name is taken, but looks before it moves.
    private static void moveWithoutLinks(Path from, Path to, Exception noLinks) throws IOException {
        try {
            Files.move(from, to);
        } catch (IOException failure) {
            failure.addSuppressed(noLinks);
            throw failure;
        }
    }

    @Override
    public void forceFolder(Path folder) throws IOException {
        try (FileChannel names = FileChannel.open(folder, StandardOpenOption.READ)) {
            names.force(true);
        }
    }

    @Override
    public void delete(Path path) throws IOException {
        Files.deleteIfExists(path);
    }

    @Override
    public boolean exists(Path path) {
        return Files.exists(path);
    }

    @Override
    public boolean isLink(Path path) {
        return Files.isSymbolicLink(path);
    }

    @Override
    public List<String> list(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.map(entry -> entry.getFileName().toString()).toList();
        }
    }

    private record OutputFile(FileChannel channel) implements Output {

        @Override
        public void force() throws IOException {
            channel.force(true);
        }

        @Override
        public int write(ByteBuffer bytes) throws IOException {
            return channel.write(bytes);
        }

        @Override
        public long write(ByteBuffer[] bytes, int offset, int length) throws IOException {
            return channel.write(bytes, offset, length);
        }

        @Override
        public long write(ByteBuffer[] bytes) throws IOException {
            return channel.write(bytes);
        }

        @Override
        public boolean isOpen() {
            return channel.isOpen();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
