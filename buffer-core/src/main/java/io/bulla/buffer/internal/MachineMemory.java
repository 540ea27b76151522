// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.internal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Memory of the machine or of the container, as Linux says it in files. `java.lang.management` says the same, and
/// takes 18 ms to load, a third of the time to the first buffer.
///
/// ```
/// /proc/meminfo         MemTotal: 24576000 kB
/// /proc/self/cgroup     0::/a/b                (version 2)      4:memory:/a/b                  (version 1)
/// /proc/self/mountinfo  where that hierarchy is, and which part of it
/// .../a/b, .../a        memory.max                              memory.limit_in_bytes: the least of all counts
/// ```
///
/// Source: proc(5), cgroups(7), and the kernel's `cgroup-v2.rst`.
public final class MachineMemory {

    private static final long UNLIMITED = Long.MAX_VALUE;
    private static final long KIB = 1024;
    // of a line of mountinfo, before its separator
    private static final int MOUNT_ROOT = 3;
    private static final int MOUNT_POINT = 4;
    private static final int MOUNT_FIELDS = 6;

    private MachineMemory() {}

    /// What this process may have, or all of the machine.
    ///
    /// @return in bytes; 0 if it is not known here
    public static long bytes() {
        return bytes(Path.of("/"));
    }

    /// @param root where `proc` and the mounts are
    static long bytes(Path root) {
        try {
            long machine = total(root);
            return machine == 0 ? 0 : Math.min(machine, limit(root));
        } catch (RuntimeException odd) {
            // files that are not as they are known
            return 0;
        }
    }

    private static long total(Path root) {
        for (String line : lines(root.resolve("proc/meminfo"))) {
            String[] words = line.split("\\s+");
            if (words.length >= 2 && words[0].equals("MemTotal:")) {
                return Math.multiplyExact(number(words[1]), KIB);
            }
        }
        return 0;
    }

    /// The least of the limits of the process's groups, up to the part of the hierarchy that is to be seen here.
    private static long limit(Path root) {
        List<String> mounts = lines(root.resolve("proc/self/mountinfo"));
        long least = UNLIMITED;
        for (String line : lines(root.resolve("proc/self/cgroup"))) {
            // number, controllers, path
            String[] parts = line.split(":", 3);
            if (parts.length == 3 && parts[1].isEmpty()) {
                least = Math.min(least, limit(root, mount(mounts, "cgroup2", ""), parts[2], "memory.max"));
            } else if (parts.length == 3 && List.of(parts[1].split(",")).contains("memory")) {
                least = Math.min(
                        least, limit(root, mount(mounts, "cgroup", "memory"), parts[2], "memory.limit_in_bytes"));
            }
        }
        return least;
    }

    private static long limit(Path root, @Nullable Mount mount, String group, String file) {
        if (mount == null) {
            return UNLIMITED;
        }
        Path top = root.resolve(mount.point.substring(1));
        Path at = top.resolve(mount.below(group)).normalize();
        long least = UNLIMITED;
        // a group outside of what is mounted is not to be seen
        for (at = at.startsWith(top) ? at : top; at != null && at.startsWith(top); at = at.getParent()) {
            for (String said : lines(at.resolve(file))) {
                least = Math.min(least, limit(said.strip()));
            }
        }
        return least;
    }

    private static long limit(String said) {
        long limit = said.equals("max") ? UNLIMITED : number(said);
        // of no use: nothing could run
        return limit <= 0 ? UNLIMITED : limit;
    }

    private static @Nullable Mount mount(List<String> mounts, String type, String controller) {
        for (String line : mounts) {
            int separator = line.indexOf(" - ");
            String[] before = line.split(" ");
            String[] behind = separator < 0
                    ? new String[0]
                    : line.substring(separator + 3).split(" ");
            if (before.length > MOUNT_FIELDS
                    && behind.length >= 3
                    && behind[0].equals(type)
                    && (controller.isEmpty() || List.of(behind[2].split(",")).contains(controller))) {
                return new Mount(before[MOUNT_ROOT], before[MOUNT_POINT]);
            }
        }
        return null;
    }

    private static long number(String digits) {
        return Long.parseLong(digits);
    }

    /// @return nothing if it cannot be read
    private static List<String> lines(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1)
                    .lines()
                    .toList();
        } catch (IOException | SecurityException notHere) {
            return List.of();
        }
    }

    /// A part of a hierarchy, and where it is.
    private record Mount(String part, String point) {

        /// The group, as a path below the mount.
        String below(String group) {
            boolean within = !part.equals("/") && (group.equals(part) || group.startsWith(part + "/"));
            String rest = within ? group.substring(part.length()) : group;
            return rest.startsWith("/") ? rest.substring(1) : rest;
        }
    }
}
