// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.shell;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// A folder for temporary files that is gone once its process is, however that ends: a lock in it lives as long as
/// the process. A child that has lost its parent removes the folder, and so does the next one of the same name.
public final class TrialFolder implements AutoCloseable {

    private static final String LOCK = "lock";
    /// Of this process. To open and close a lock file of these would end the lock, which is the whole process's.
    private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final Path own;
    private final FileChannel lock;

    private TrialFolder(Path path, Path own, FileChannel lock) {
        this.path = path;
        this.own = own;
        this.lock = lock;
    }

    /// A fresh one; those of dead processes go.
    ///
    /// @param name begin of its name
    public static TrialFolder create(String name) throws IOException {
        // hidden until it is locked: under this name no process looks for those of dead ones
        Path hidden = Files.createTempDirectory("." + name);
        Path path = hidden.resolveSibling(hidden.getFileName().toString().substring(1));
        Path own = hidden.toRealPath().resolveSibling(path.getFileName());
        try {
            FileChannel channel =
                    FileChannel.open(hidden.resolve(LOCK), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            try {
                if (channel.tryLock() == null) {
                    throw new IOException("cannot lock a file of this process's own: path=" + hidden);
                }
                removeOrphans(path.getParent(), name);
                TrialFolder folder = new TrialFolder(path, own, channel);
                OWN.add(own);
                Files.move(hidden, path);
                return folder;
            } catch (Throwable failure) {
                OWN.remove(own);
                channel.close();
                throw failure;
            }
        } catch (Throwable failure) {
            remove(hidden);
            throw failure;
        }
    }

    public Path path() {
        return path;
    }

    /// Removes it with all that is in it.
    @Override
    public void close() throws IOException {
        try (lock) {
            remove(path);
        }
        OWN.remove(own);
    }

    /// Removes a folder whose process is dead; leaves any other one.
    public static void removeIfOrphan(Path folder) throws IOException {
        Path file = folder.resolve(LOCK);
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || OWN.contains(folder.toRealPath())) {
            return;
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
                FileLock dead = channel.tryLock()) {
            if (dead != null) {
                remove(folder);
            }
        } catch (OverlappingFileLockException beside) {
            // another thread of this process is at it
        }
    }

    private static void removeOrphans(Path parent, String name) {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(parent, name + "*")) {
            for (Path folder : folders) {
                if (Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
                    tryRemove(folder);
                }
            }
        } catch (IOException unreadable) {
            // another one's to clean
        }
    }

    private static void tryRemove(Path folder) {
        try {
            removeIfOrphan(folder);
        } catch (IOException another) {
            // a person's who does not let us, or gone meanwhile
        }
    }

    private static void remove(Path folder) throws IOException {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
        }
        Files.deleteIfExists(folder);
    }
}
