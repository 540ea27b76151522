// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.needs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/// A piece of a machine that a test needs and that not every machine has.
///
/// Some have a probe of their own; the others are tried by code that only the test's module has
/// ([Needs#by()][Needs#by()], [#orSkip]).
public enum Piece {
    /// The library of fabrics, in a version that works.
    LIBFABRIC("libfabric", "apt-get install libfabric1"),
    /// io_uring with what the test uses of it.
    IO_URING("io_uring", "Linux 6.1 or newer, and a seccomp profile that allows io_uring_setup"),
    /// Sends that leave the bytes where they are, by `MSG_ZEROCOPY`.
    ZERO_COPY("MSG_ZEROCOPY", "Linux 4.14 or newer"),
    /// Netty's native transport by epoll.
    EPOLL("epoll", "Linux on x86-64 or AArch64, where Netty has its native library"),
    /// Files in memory.
    MEMORY_FILES("memfd", "Linux 3.17 or newer, and a seccomp profile that allows memfd_create"),
    /// Filters of system calls, which a thread may put on itself.
    FILTERS("seccomp", "a kernel with seccomp filters"),
    /// A limit on locked memory that holds for the test's thread.
    LOCK_LIMIT("lock-limit", "ulimit -l 8192, and the capability to give up CAP_IPC_LOCK"),
    /// Memory that a kernel or a device may keep from being moved, a few dozen MiB of it.
    LOCKED_MEMORY("locked-memory", "ulimit -l unlimited, or CAP_IPC_LOCK"),
    /// Room for a few hundred open files.
    DESCRIPTORS("descriptors", "ulimit -n 256", Piece::openFiles),
    /// CRIU, in a version that can dump a process on this kernel.
    CRIU("criu", "criu 4.2 or newer, as root; Debian 12 has 3.17.1, which cannot dump on Linux 6.13 or newer"),
    /// The kernel's files about a process.
    PROC("procfs", "Linux with /proc mounted", () -> readable("/proc/self/status")),
    /// Writes to what the kernel shows of a process.
    PROC_WRITES("procfs-writes", "/proc mounted so that it may be written", () -> writable("/proc/self/mem")),
    /// The file by which the JVM shows its counters to other processes.
    PERFORMANCE_DATA("hsperfdata", "a /tmp that may be written, and no -XX:-UsePerfData"),
    /// A file system in memory.
    SHM("tmpfs", "a tmpfs at /dev/shm that may be written", Piece::sharedMemory),
    /// The user that may do all.
    ROOT("root", "run as root", Piece::root),
    /// IPv6 on the loopback interface.
    IPV6("ipv6", "a kernel with IPv6 on lo", Piece::loopback6),
    /// More addresses of the loopback interface than one.
    LOOPBACK_ADDRESSES("loopback-addresses", "Linux, which has all of 127.0.0.0/8"),
    /// The command.
    OPENSSL("openssl", "apt-get install openssl", () -> runs("openssl", "version")),
    /// gRPC for Python.
    PYTHON_GRPC("python-grpc", "apt-get install python3-grpcio"),
    /// More time than the test of every change has, or a machine made for it.
    LONG_CHECK("long-check", "the check that its documentation names");

    private static final int MANY_FILES = 256;

    private final String title;
    private final String remedy;
    private final @Nullable Probe probe;

    Piece(String title, String remedy) {
        this(title, remedy, null);
    }

    Piece(String title, String remedy, @Nullable Probe probe) {
        this.title = title;
        this.remedy = remedy;
        this.probe = probe;
    }

    /// The name by which skips are counted.
    ///
    /// @return a word
    public String title() {
        return title;
    }

    /// How a machine gets it.
    ///
    /// @return a command, or what the machine must be
    public String remedy() {
        return remedy;
    }

    /// Skips the running test if a reason is given.
    ///
    /// @param why the piece cannot be used, or `null` if it can; of a `Throwable` its message
    /// @throws TestAbortedException if `why` is not null
    public void orSkip(@Nullable Object why) {
        if (why != null) {
            String reason = why instanceof Throwable thrown ? String.valueOf(thrown.getMessage()) : why.toString();
            String line = reason.lines().findFirst().orElse("").strip();
            throw new TestAbortedException("needs " + title + ": " + line + "; " + remedy);
        }
    }

    Probe ownProbe() {
        if (probe == null) {
            throw new IllegalStateException("piece has no probe of its own, name one: piece=" + this);
        }
        return probe;
    }

    private static @Nullable String readable(String file) {
        return Files.isReadable(Path.of(file)) ? null : "cannot be read: file=" + file;
    }

    private static @Nullable String writable(String file) {
        return Files.isWritable(Path.of(file)) ? null : "cannot be written: file=" + file;
    }

    private static @Nullable String openFiles() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/limits"))) {
            if (line.startsWith("Max open files")) {
                String soft = line.strip().split(" {2,}")[1];
                boolean enough = soft.equals("unlimited") || Long.parseLong(soft) >= MANY_FILES;
                return enough ? null : "limit=" + soft + " wanted=" + MANY_FILES;
            }
        }
        return null;
    }

    private static @Nullable String sharedMemory() throws IOException {
        Path shm = Path.of("/dev/shm");
        if (!Files.isWritable(shm)) {
            return "cannot be written: folder=" + shm;
        }
        String type = Files.getFileStore(shm).type();
        return type.equals("tmpfs") ? null : "other file system: folder=" + shm + " type=" + type;
    }

    private static @Nullable String root() throws IOException {
        Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        return user.equals(0) ? null : "another user: uid=" + user;
    }

    private static @Nullable String loopback6() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("::1"))) {
            return socket.isBound() ? null : "not bound";
        }
    }

    private static @Nullable String runs(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<String> said;
        try (var out = process.inputReader()) {
            said = out.readAllLines();
        }
        int status = process.waitFor();
        return status == 0 ? null : "failed: status=" + status + " said=" + (said.isEmpty() ? "" : said.getLast());
    }

    /// Stands for the probe of the piece itself.
    static final class OwnProbe implements Probe {

        private OwnProbe() {}

        @Override
        public @Nullable String missing() {
            throw new IllegalStateException("stands for a piece's own probe");
        }
    }
}
