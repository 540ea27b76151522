// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Memory of machines and containers, by the files that Linux has of them.
class MachineMemoryTest {

    private static final long MIB = 1 << 20;
    private static final String VERSION_2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
    private static final String VERSION_1 = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
            + "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
            + "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";

    @TempDir
    private Path root;

    private void write(String name, String text) throws IOException {
        Path file = root.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private void machine(String groups, String mounts) throws IOException {
        write("proc/meminfo", "MemTotal:        2048 kB\nMemFree:          10 kB\n");
        write("proc/self/cgroup", groups);
        write("proc/self/mountinfo", mounts);
    }

    private long bytes() {
        return MachineMemory.bytes(root);
    }

    @Test
    void thisMachineHasSome() {
        assertTrue(MachineMemory.bytes() > 64 * MIB || !Files.exists(Path.of("/proc/meminfo")));
    }

    @Test
    void machineWithoutFilesIsNotKnown() throws IOException {
        assertEquals(0, bytes());
        write("proc/meminfo", "MemFree: 10 kB\n");
        assertEquals(0, bytes());
        write("proc/meminfo", "MemTotal:\n");
        assertEquals(0, bytes());
        write("proc/meminfo", "MemTotal: much\n");
        assertEquals(0, bytes());
        write("proc/meminfo", "MemTotal: 9223372036854775807 kB\n");
        assertEquals(0, bytes());
    }

    @Test
    void machineWithoutGroupsIsAllThereIs() throws IOException {
        write("proc/meminfo", "MemTotal:        2048 kB\n");
        assertEquals(2 * MIB, bytes());
        write("proc/meminfo", "MemTotal:        2048\n");
        assertEquals(2 * MIB, bytes(), "the unit goes without saying");
        machine("", "");
        assertEquals(2 * MIB, bytes());
        machine("0::/a\n4:memory:/a\nodd\n", "odd\n1 2 3 4 5 6 - cgroup2\n");
        assertEquals(2 * MIB, bytes());
        machine("0::/a\n", "1 2 - cgroup2 / rw\n");
        write("memory.max", "4096\n");
        assertEquals(2 * MIB, bytes(), "no mount: too few fields");
    }

    @Test
    void groupOfVersion2Limits() throws IOException {
        machine("0::/a/b\n", VERSION_2);
        assertEquals(2 * MIB, bytes());
        write("sys/fs/cgroup/a/b/memory.max", "max\n");
        assertEquals(2 * MIB, bytes());
        write("sys/fs/cgroup/a/b/memory.max", "1048576\n");
        assertEquals(MIB, bytes());
        write("sys/fs/cgroup/a/b/memory.max", "1073741824\n");
        assertEquals(2 * MIB, bytes(), "more than there is");
    }

    @Test
    void groupAboveLimitsToo() throws IOException {
        machine("0::/a/b\n", VERSION_2);
        write("sys/fs/cgroup/a/b/memory.max", "1048576\n");
        write("sys/fs/cgroup/a/memory.max", "524288\n");
        assertEquals(MIB / 2, bytes());
        write("sys/fs/cgroup/memory.max", "4096\n");
        assertEquals(4096, bytes());
        write("sys/fs/memory.max", "1\n");
        assertEquals(4096, bytes(), "above the mount is no group");
    }

    @Test
    void groupOfVersion1Limits() throws IOException {
        machine("9:name=systemd:/\n4:cpu,memory:/a/b\n1:cpu:/c\n0::/\n", VERSION_1);
        write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
        assertEquals(2 * MIB, bytes());
        write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1048576\n");
        assertEquals(MIB, bytes());
        write("sys/fs/cgroup/cpu/c/memory.limit_in_bytes", "1\n");
        assertEquals(MIB, bytes());
    }

    @Test
    void containerSeesItsPartAlone() throws IOException {
        String part = "36 31 0:32 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        machine("4:memory:/docker/x\n", part);
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1048576\n");
        assertEquals(MIB, bytes());
        write("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "4096\n");
        assertEquals(MIB, bytes(), "a group within this one, of the same name");
        machine("4:memory:/docker/x/inner\n", part);
        assertEquals(MIB, bytes());
        write("sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "4096\n");
        assertEquals(4096, bytes());
        // its own group is outside of what it sees
        machine("0::/../..\n", VERSION_2);
        write("sys/fs/cgroup/memory.max", "524288\n");
        assertEquals(MIB / 2, bytes());
        // a name that only begins alike
        machine("4:memory:/docker/xy\n", part);
        assertEquals(MIB, bytes());
    }

    @Test
    void limitOfNothingIsNone() throws IOException {
        machine("0::/a\n", VERSION_2);
        write("sys/fs/cgroup/a/memory.max", "0\n");
        assertEquals(2 * MIB, bytes());
        write("sys/fs/cgroup/a/memory.max", "");
        assertEquals(2 * MIB, bytes());
        write("sys/fs/cgroup/a/memory.max", "plenty\n");
        assertEquals(0, bytes(), "then the JDK is asked");
    }
}
