// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryLeftTest {

    private static final long MIB = 1 << 20;

    @TempDir
    private Path folder;

    private Path proc;
    private Path groups;

    @BeforeEach
    void makeFolders() throws IOException {
        proc = Files.createDirectories(folder.resolve("proc"));
        groups = Files.createDirectories(folder.resolve("cgroup"));
        write(proc.resolve("meminfo"), "MemTotal:  3276800 kB\nMemFree: 100 kB\nMemAvailable:  1638400 kB\n");
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private void group(String name, String most, long used, long files) throws IOException {
        Path group = groups.resolve(name);
        write(group.resolve("memory.max"), most + "\n");
        write(group.resolve("memory.current"), used + "\n");
        write(group.resolve("memory.stat"), "anon 5\nfile 999999999999\ninactive_file " + files + "\nactive_file 0\n");
    }

    private long left() {
        return new MemoryLeft(proc, groups).bytes();
    }

    @Test
    void machineLeavesWhatIsAvailableLessAPart() {
        assertEquals(1600 * MIB - 100 * MIB, left());
    }

    @Test
    void everyGroupAboveCounts() throws IOException {
        write(proc.resolve("self/cgroup"), "0::/job/rank\n");
        group("job/rank", "max", 10 * MIB, 0);
        assertEquals(1500 * MIB, left());
        group("job", Long.toString(320 * MIB), 100 * MIB, 0);
        assertEquals(210 * MIB, left());
        group("job/rank", Long.toString(64 * MIB), 62 * MIB, 0);
        assertEquals(0, left());
        group("job/rank", Long.toString(64 * MIB), 62 * MIB, 20 * MIB);
        assertEquals(20 * MIB, left(), "pages of files can be dropped");
    }

    @Test
    void groupThatIsNotSeenHereIsTheRoot() throws IOException {
        write(proc.resolve("self/cgroup"), "0::/../../machine.slice/other\n");
        group("", Long.toString(64 * MIB), 32 * MIB, 0);
        assertEquals(30 * MIB, left());
    }

    @Test
    void firstVersionOfGroupsCountsToo() throws IOException {
        write(proc.resolve("self/cgroup"), "3:cpu,cpuacct:/a\n2:memory:/a\n");
        write(groups.resolve("memory/a/memory.limit_in_bytes"), Long.toString(96 * MIB));
        write(groups.resolve("memory/a/memory.usage_in_bytes"), Long.toString(32 * MIB));
        write(groups.resolve("memory/memory.limit_in_bytes"), "9223372036854771712");
        assertEquals(61 * MIB, left());
    }

    @Test
    void whereNothingSaysItThereIsNoLimit() throws IOException {
        Files.delete(proc.resolve("meminfo"));
        assertEquals(Long.MAX_VALUE, left());
        write(proc.resolve("self/cgroup"), "0::/\n");
        write(groups.resolve("memory.max"), "max\n");
        assertEquals(Long.MAX_VALUE, left());
    }

    @Test
    void thisMachineSaysSomething() {
        long left = MemoryLeft.ofMachine().bytes();
        assertTrue(left > 0 && left < 1L << 50, () -> "left=" + left);
    }
}
