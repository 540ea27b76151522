// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.file;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.Libc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/// A file that is written past the page cache (`O_DIRECT`), and what it asks of a write. A value; any thread may ask.
///
/// ```
/// statx:   0 mask  152 dio_mem_align  156 dio_offset_align      256 bytes
/// ```
///
/// @param descriptor open for writing
/// @param memoryAlignment of an address that is written from, in bytes
/// @param block what a place in the file, and a length, is a multiple of
record DirectFile(Descriptor descriptor, int memoryAlignment, int block) {

    private static final int CREATE_NEW_TO_WRITE = 0x1 | 0x40 | 0x80 | Libc.SOCK_CLOEXEC;
    // the only one that the processors number differently
    private static final int DIRECT = System.getProperty("os.arch").equals("aarch64") ? 0x10000 : 0x4000;
    private static final int OWNER_WRITES_OTHERS_READ = 0644;
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int STATX_DIOALIGN = 0x2000;
    private static final long STATX_BYTES = 256;
    private static final long TMPFS = 0x01021994;
    private static final long RAMFS = 0x858458f6L;
    /// What kernels before 6.1, and file systems that do not say, are asked for: more than any of them wants.
    private static final int UNTOLD = 4096;

    private static final MethodHandle OPEN = Libc.variadic("open", 2, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
    private static final MethodHandle UNLINK = Libc.function("unlink", JAVA_INT, ADDRESS);
    private static final MethodHandle STATX =
            Libc.function("statx", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle STATFS = Libc.function("fstatfs", JAVA_INT, JAVA_INT, ADDRESS);

    /// Makes a file. After an exception there is none.
    static DirectFile create(Path path) throws PosixException {
        String name = path.toFile().getPath();
        int fd = open(name);
        boolean whole = false;
        try {
            writePastTheCache(fd, name);
            DirectFile file = describe(fd, name);
            whole = true;
            return file;
        } finally {
            if (!whole) {
                Call.current().close(fd);
                unlink(name);
            }
        }
    }

    /// Closes it, and removes the file: there is no writer of it.
    void remove(Path path) {
        try {
            descriptor.close();
        } finally {
            // what is thrown already says more than a file that stays
            path.toFile().delete();
        }
    }

    private static DirectFile describe(int fd, String name) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment answer = arena.allocate(STATX_BYTES, 8);
            statfs(arena, fd, answer);
            long type = answer.get(JAVA_LONG, 0);
            if (type == TMPFS || type == RAMFS) {
                throw unfit("file system is in memory", type, name);
            }
            answer.fill((byte) 0);
            statx(arena, fd, answer);
            if ((answer.get(JAVA_INT, 0) & STATX_DIOALIGN) == 0) {
                return new DirectFile(new Descriptor(fd, "file"), UNTOLD, UNTOLD);
            }
            int memory = answer.get(JAVA_INT, 152);
            int block = answer.get(JAVA_INT, 156);
            if (memory == 0 || block == 0) {
                throw unfit("file system writes through its cache only", type, name);
            }
            return new DirectFile(new Descriptor(fd, "file"), memory, block);
        }
    }

    private static PosixException unfit(String why, long type, String name) {
        return new PosixException(
                "open",
                Errno.EINVAL.number(),
                "O_DIRECT: " + why + ": type=0x" + Long.toHexString(type) + " path=" + name);
    }

    private static int open(String name) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(JAVA_INT);
            MemorySegment path = arena.allocateFrom(name);
            int fd = (int) OPEN.invokeExact(errno, path, CREATE_NEW_TO_WRITE, OWNER_WRITES_OTHERS_READ);
            if (fd >= 0) {
                return fd;
            }
            throw CallFailure.of("open", errno.get(JAVA_INT, 0), "path=" + name);
        } catch (PosixException refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// Not with `open`: that may make the file, and refuse the flag then.
    private static void writePastTheCache(int fd, String name) throws PosixException {
        Call call = Call.current();
        int flags = call.fcntl(fd, Libc.F_GETFL, 0);
        int result = flags < 0 ? flags : call.fcntl(fd, Libc.F_SETFL, flags | DIRECT);
        if (result == -Errno.EINVAL.number()) {
            throw CallFailure.of("open", -result, "file system refuses O_DIRECT: path=" + name);
        }
        if (result < 0) {
            throw CallFailure.of("fcntl", -result, "path=" + name);
        }
    }

    private static void unlink(String name) {
        try (Arena arena = Arena.ofConfined()) {
            int ignored = (int) UNLINK.invokeExact(arena.allocate(JAVA_INT), arena.allocateFrom(name));
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    private static void statfs(Arena arena, int fd, MemorySegment answer) throws PosixException {
        MemorySegment errno = arena.allocate(JAVA_INT);
        try {
            check("fstatfs", (int) STATFS.invokeExact(errno, fd, answer), errno);
        } catch (PosixException refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    private static void statx(Arena arena, int fd, MemorySegment answer) throws PosixException {
        MemorySegment errno = arena.allocate(JAVA_INT);
        try {
            MemorySegment itself = arena.allocateFrom("");
            check("statx", (int) STATX.invokeExact(errno, fd, itself, AT_EMPTY_PATH, STATX_DIOALIGN, answer), errno);
        } catch (PosixException refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    private static void check(String call, int result, MemorySegment errno) throws PosixException {
        if (result < 0) {
            throw CallFailure.of(call, errno.get(JAVA_INT, 0), "file that was made");
        }
    }
}
