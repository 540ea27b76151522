// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// How much memory there is to be taken: asked before a memory file is filled. The kernel's answer to one
/// that does not fit is to kill a process, not an error.
///
/// The machine's `MemAvailable`, and what every control group above this process leaves (version 2:
/// `memory.max` - `memory.current`, version 1: `memory.limit_in_bytes` - `memory.usage_in_bytes`; pages of
/// files that the kernel can drop count as left). A part of each is kept back: others take memory at the same
/// time.
public final class MemoryLeft {

    private static final Path PROC = Path.of("/proc");
    private static final Path GROUPS = Path.of("/sys/fs/cgroup");
    private static final Pattern NUMBER = Pattern.compile("\\d+");
    /// One part in so many is kept back.
    private static final long KEPT_BACK = 32;

    private final Path proc;
    private final Path groups;

    /// @param proc where the process file system is
    /// @param groups where control groups are
    public MemoryLeft(Path proc, Path groups) {
        this.proc = proc;
        this.groups = groups;
    }

    public static MemoryLeft ofMachine() {
        return new MemoryLeft(PROC, GROUPS);
    }

    /// Bytes to be taken.
    ///
    /// @return at least 0; `Long.MAX_VALUE` if nothing here can say it
    public long bytes() {
        String machine = read(proc.resolve("meminfo"));
        long least = left(kib(machine, "MemTotal"), kib(machine, "MemAvailable"));
        for (String line : read(proc.resolve("self/cgroup")).lines().toList()) {
            String[] parts = line.split(":", 3);
            if (parts.length == 3 && parts[1].isEmpty()) {
                least = Math.min(least, inGroup(groups, parts[2], "memory.max", "memory.current"));
            } else if (parts.length == 3 && List.of(parts[1].split(",")).contains("memory")) {
                Path memory = groups.resolve("memory");
                least = Math.min(least, inGroup(memory, parts[2], "memory.limit_in_bytes", "memory.usage_in_bytes"));
            }
        }
        return least;
    }

    /// The least that a group and those above it leave. In a container the path may be one of the host's:
    /// then the group is the root of what is seen here.
    private static long inGroup(Path root, String name, String limit, String usage) {
        long least = Long.MAX_VALUE;
        Path group = root.resolve(name.substring(name.startsWith("/") ? 1 : 0)).normalize();
        if (!group.startsWith(root) || !Files.isDirectory(group)) {
            group = root;
        }
        for (Path each = group; each != null && each.startsWith(root); each = each.getParent()) {
            long most = number(read(each.resolve(limit)));
            long used = number(read(each.resolve(usage)));
            if (most >= 0 && used >= 0) {
                least = Math.min(least, left(most, most - used + droppable(read(each.resolve("memory.stat")))));
            }
        }
        return least;
    }

    private static long droppable(String stat) {
        return Math.max(0, named(stat, "active_file")) + Math.max(0, named(stat, "inactive_file"));
    }

    private static long left(long total, long free) {
        return total < 0 || free == -1 ? Long.MAX_VALUE : Math.max(0, Math.min(total, free) - total / KEPT_BACK);
    }

    private static long kib(String meminfo, String name) {
        long kib = named(meminfo, name + ":");
        return kib < 0 ? -1 : kib << 10;
    }

    private static long named(String text, String name) {
        return text.lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToLong(line -> number(line.substring(name.length())))
                .findFirst()
                .orElse(-1);
    }

    /// @return -1 if there is none, as in `max`
    private static long number(String text) {
        Matcher found = NUMBER.matcher(text);
        // more than a long has: no limit
        return found.find() && found.group().length() < 19 ? Long.parseLong(found.group()) : -1;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException notHere) {
            return "";
        }
    }
}
