// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Small files, and who may read those that are secret: this process's user alone. Another one is refused, not
/// warned about, since what others may have read is a secret no more.
final class SecretFile {

    private static final int MOST = 1 << 20;
    private static final Set<PosixFilePermission> OWNER = EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    private static final @Nullable UserPrincipal SELF = self();

    private SecretFile() {}

    static byte[] secret(Path file) throws IOException {
        if (!isPosix(file)) {
            return bytes(file);
        }
        Object before = checkOwnersAlone(file);
        byte[] bytes = bytes(file);
        // a path may be given another file between a look and an open; what was read is the file that was looked at
        boolean same = false;
        try {
            same = Objects.equals(before, checkOwnersAlone(file));
        } finally {
            if (!same) {
                Arrays.fill(bytes, (byte) 0);
            }
        }
        if (!same) {
            throw new IOException("secret file was replaced while it was read: file=" + file);
        }
        return bytes;
    }

    private static boolean isPosix(Path file) {
        return file.getFileSystem().supportedFileAttributeViews().contains("posix");
    }

    static byte[] bytes(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(MOST + 1);
            if (bytes.length > MOST) {
                throw new IOException("file is too large: file=" + file + " limit=" + MOST);
            }
            return bytes;
        } catch (NoSuchFileException missing) {
            throw new IOException("no such file: file=" + file, missing);
        }
    }

    /// @return which file it is, whatever its path
    private static Object checkOwnersAlone(Path file) throws IOException {
        PosixFileAttributes attributes;
        try {
            attributes = Files.readAttributes(file, PosixFileAttributes.class);
        } catch (NoSuchFileException missing) {
            throw new IOException("no such file: file=" + file, missing);
        }
        Set<PosixFilePermission> permissions = attributes.permissions();
        if (!OWNER.containsAll(permissions)) {
            throw new IOException("secret file is open to others: file=" + file + " permissions="
                    + PosixFilePermissions.toString(permissions) + " wanted=rw-------");
        }
        if (SELF != null && !attributes.owner().equals(SELF)) {
            throw new IOException(
                    "secret file is another user's: file=" + file + " owner=" + attributes.owner() + " self=" + SELF);
        }
        return attributes.fileKey();
    }

    /// This process's user, or null where the system does not tell.
    private static @Nullable UserPrincipal self() {
        try {
            return Files.getOwner(Path.of("/proc/self"));
        } catch (IOException | UnsupportedOperationException notLinux) {
            return null;
        }
    }
}
