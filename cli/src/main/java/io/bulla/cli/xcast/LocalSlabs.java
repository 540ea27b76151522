// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.pool.SlabSource;
import io.bulla.posix.lending.SharedSlabSource;
import io.bulla.posix.lending.SlabLenderFigures;
import io.bulla.posix.lending.SlabQuota;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.runtime.oob.local.SlabMemory;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;

/// Slabs that this command's nodes lend those of other processes of this user and host.
final class LocalSlabs implements AutoCloseable {

    private static final int LEASES = 4096;
    /// From one broadcast to the next, a slab stays where all have mapped it: another one would have to be taken page
    /// by page, handed over, and mapped again.
    private static final Duration IDLE = Duration.ofSeconds(10);

    private final SharedSlabSource source;
    private final SlabMemory memory;

    private LocalSlabs(SharedSlabSource source, SlabMemory memory) {
        this.source = source;
        this.memory = memory;
    }

    /// @param options of the slabs
    /// @param limit bytes that a peer may have
    /// @param folder for sockets, or `null` for the one that all processes of a user have
    /// @throws IOException if the folder for sockets is not this user's alone
    /// @throws UnsupportedOperationException if this is not a system that can
    static LocalSlabs open(SlabSource.Builder options, long limit, Path folder) throws IOException {
        // asks the kernel for a memory file now, and not in the middle of a broadcast
        MemfdSource.create();
        SharedSlabSource source = SharedSlabSource.create(options.idle(IDLE));
        boolean opened = false;
        try {
            LocalSlabs slabs = new LocalSlabs(
                    source,
                    SlabMemory.open(
                            folder == null ? folder() : folder, source, new SlabQuota(LEASES, Math.max(1, limit))));
            opened = true;
            return slabs;
        } finally {
            if (!opened) {
                source.close();
            }
        }
    }

    /// One for all processes of a user: a socket that a killed one has left there is removed by the
    /// next.
    private static Path folder() throws IOException {
        Path folder = Path.of(System.getProperty("java.io.tmpdir"), "bulla-" + System.getProperty("user.name"));
        try {
            Files.createDirectory(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException another) {
            // whose it is is looked at when it is used
        }
        return folder;
    }

    SharedSlabSource source() {
        return source;
    }

    SlabMemory memory() {
        return memory;
    }

    SlabLenderFigures figures() {
        return memory.figures();
    }

    @Override
    public void close() {
        memory.close();
        source.close();
    }
}
