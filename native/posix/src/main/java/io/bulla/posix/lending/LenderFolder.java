// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.stream.StreamSocket;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;

/// The folder that lenders have their sockets in. A socket whose lender was killed stays as a file: it
/// refuses connections, which one that is served never does, and goes with the next who notices, a borrower
/// or another lender. Each has a name of its own, so what is removed is never a later one's. Any
/// thread may call.
final class LenderFolder {

    private static final String PRIVATE = "rwx------";

    private LenderFolder() {}

    /// @throws IOException if it is not this user's alone
    static void check(Path folder) throws IOException {
        String mode = PosixFilePermissions.toString(Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS));
        Object owner = Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        int uid = Call.current().geteuid();
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS) || !mode.equals(PRIVATE) || !owner.equals(uid)) {
            throw new IOException("not a folder of this user's alone: folder=" + folder + " mode=" + mode + " owner="
                    + owner + " user=" + uid);
        }
    }

    static Path fresh(Path folder, String name) {
        return folder.resolve(
                name + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong()));
    }

    static void removeOrphans(Path folder, String name) throws IOException {
        try (DirectoryStream<Path> sockets = Files.newDirectoryStream(folder, name + "????????????????")) {
            for (Path each : sockets) {
                removeIfOrphan(each);
            }
        }
    }

    /// Removes a socket that nothing listens on.
    static void removeIfOrphan(Path socket) {
        try {
            StreamSocket.connect(socket).close();
        } catch (PosixException refused) {
            if (refused.errno() == Errno.ECONNREFUSED) {
                remove(socket);
            }
        }
    }

    static void remove(Path socket) {
        try {
            Files.deleteIfExists(socket);
        } catch (IOException another) {
            // the next one of this folder
        }
    }
}
