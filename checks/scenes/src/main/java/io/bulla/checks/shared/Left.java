// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.shared;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/// What a process still has: sockets, memory files and what the kernel has no name for; and mappings of memory
/// files.
final class Left {

    private static final List<String> KINDS = List.of("socket:", "/memfd:", "anon_inode:");
    private static final int MOST_WAITS = 3000;
    private static final long PAUSE_NANOS = 10_000_000;

    private Left() {}

    static long now() throws IOException {
        long mapped;
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            mapped = lines.filter(line -> line.contains("/memfd:")).count();
        }
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return mapped + files.filter(Left::isOfThese).count();
        }
    }

    /// What there is more than before. Some mappings are ended by a thread of their own: waits for it.
    static long since(long before) throws IOException {
        for (int i = 0; i < MOST_WAITS && now() > before; i++) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return now() - before;
    }

    private static boolean isOfThese(Path descriptor) {
        try {
            String link = Files.readSymbolicLink(descriptor).toString();
            return KINDS.stream().anyMatch(link::startsWith);
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }
}
