// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.bulla.posix.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The system calls on memory files and their mappings. A failed call answers with the negative error number.
public final class Memfd {

    public static final int SEAL_SEAL = 0x1;
    public static final int SEAL_SHRINK = 0x2;
    public static final int SEAL_GROW = 0x4;
    public static final int SEAL_WRITE = 0x8;
    /// No new mapping can write; one that there is writes on.
    public static final int SEAL_FUTURE_WRITE = 0x10;
    /// With these a file keeps its size, and only the mapping that there is writes it.
    public static final int ONE_WRITER = SEAL_SHRINK | SEAL_GROW | SEAL_FUTURE_WRITE | SEAL_SEAL;
    /// With these the file's bytes and size are fixed, and the seals cannot be taken off.
    public static final int IMMUTABLE = SEAL_SHRINK | SEAL_GROW | SEAL_WRITE;

    /// In the names of mappings and descriptors, under `/proc`.
    public static final String NAME = "bulla";

    private static final int CLOEXEC = 0x1;
    private static final int ALLOW_SEALING = 0x2;
    private static final int NOEXEC_SEAL = 0x8;
    private static final int F_ADD_SEALS = 1033;
    private static final int F_GET_SEALS = 1034;
    private static final int PROT_READ = 0x1;
    private static final int PROT_WRITE = 0x2;
    private static final int MAP_SHARED = 0x1;
    private static final int MAP_PRIVATE = 0x2;
    private static final int MAP_FIXED = 0x10;
    private static final int MAP_ANONYMOUS = 0x20;
    /// Pages are given back; the addresses stay, and read zeros.
    public static final int DONTNEED = 4;
    /// Pages of 2 MiB, where the system has them.
    public static final int HUGEPAGE = 14;
    /// Pages are taken now, or the error is an error number and no signal; kernels before 5.14 do not know
    /// it.
    public static final int POPULATE_WRITE = 23;
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int STATX_TYPE_SIZE_AND_BLOCKS = 0x1 | 0x200 | 0x400;
    private static final long STATX_BYTES = 256;
    private static final long STATX_MODE = 28;
    private static final long STATX_SIZE = 40;
    private static final long STATX_BLOCKS = 48;
    private static final long BLOCK = 512;
    private static final int S_IFMT = 0xf000;
    private static final int S_IFREG = 0x8000;
    private static final long STATFS_BYTES = 128;
    private static final long TMPFS = 0x01021994;

    private static final MethodHandle CREATE = Libc.function("memfd_create", JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle TRUNCATE = Libc.function("ftruncate", JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle MAP =
            Libc.function("mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle UNMAP = Libc.function("munmap", JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle REMAP =
            Libc.variadic("mremap", 4, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle ADVISE = Libc.function("madvise", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle STATX =
            Libc.function("statx", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle STATFS = Libc.function("fstatfs", JAVA_INT, JAVA_INT, ADDRESS);

    /// Bytes of a page.
    public static final int PAGE = page();

    private static final ThreadLocal<MemorySegment> ERRNO =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(JAVA_INT));

    private Memfd() {}

    /// An empty file in memory that can be sealed, writable, and not inherited by programs that are started.
    public static int create() {
        int fd = create(CLOEXEC | ALLOW_SEALING | NOEXEC_SEAL);
        // kernels before 6.3 do not know the last one
        return fd == -22 ? create(CLOEXEC | ALLOW_SEALING) : fd;
    }

    private static int create(int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = ERRNO.get();
            return result((int) CREATE.invokeExact(errno, arena.allocateFrom(NAME), flags), errno);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    public static int truncate(int fd, long bytes) {
        MemorySegment errno = ERRNO.get();
        try {
            int result;
            do {
                result = result((int) TRUNCATE.invokeExact(errno, fd, bytes), errno);
            } while (result == -Libc.EINTR);
            return result;
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// @param offset a multiple of the page size
    /// @return the address
    public static long map(int fd, long offset, long bytes, boolean writable, boolean shared) {
        MemorySegment errno = ERRNO.get();
        int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
        try {
            return result(
                    (long) MAP.invokeExact(errno, 0L, bytes, access, shared ? MAP_SHARED : MAP_PRIVATE, fd, offset),
                    errno);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// A mapping. Nothing ends it: its user drops it before it is unmapped.
    // restricted: the kernel has said where the mapping is, and how large
    @SuppressWarnings("restricted")
    public static MemorySegment view(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    /// Puts a file in the place of other memory of this process, for writing.
    ///
    /// @param address of a mapping that is as long at least
    /// @return the address
    public static long mapOver(int fd, long address, long bytes) {
        MemorySegment errno = ERRNO.get();
        try {
            return result(
                    (long) MAP.invokeExact(
                            errno, address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0L),
                    errno);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// Memory of no file: zeros.
    ///
    /// @return the address
    public static long map(long bytes) {
        MemorySegment errno = ERRNO.get();
        try {
            return result(
                    (long) MAP.invokeExact(
                            errno, 0L, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L),
                    errno);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    public static int advise(long address, long bytes, int advice) {
        MemorySegment errno = ERRNO.get();
        try {
            return result((int) ADVISE.invokeExact(errno, address, bytes, advice), errno);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    public static int unmap(long address, long bytes) {
        MemorySegment errno = ERRNO.get();
        try {
            return result((int) UNMAP.invokeExact(errno, address, bytes), errno);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// Makes a mapping larger where it is.
    ///
    /// @return the address
    static long remap(long address, long bytes, long wanted) {
        MemorySegment errno = ERRNO.get();
        try {
            return result((long) REMAP.invokeExact(errno, address, bytes, wanted, 0), errno);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    public static int addSeals(int fd, int seals) {
        return Call.current().fcntl(fd, F_ADD_SEALS, seals);
    }

    public static int seals(int fd) {
        return Call.current().fcntl(fd, F_GET_SEALS, 0);
    }

    /// The size of a memory file.
    ///
    /// @param bytes its size; negative: the error number
    /// @param taken bytes of memory that it has; with holes fewer than its size. Reading a hole takes memory
    public record Extent(long bytes, long taken) {}

    public static long size(int fd) {
        return extent(fd).bytes();
    }

    /// @return a size of `-EINVAL` if it is not a regular file on memory of small pages. One of huge pages
    ///     has rules of its own for lengths.
    public static Extent extent(int fd) {
        MemorySegment errno = ERRNO.get();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment answer = arena.allocate(STATX_BYTES, 8);
            int result = result(
                    (int) STATX.invokeExact(
                            errno, fd, arena.allocateFrom(""), AT_EMPTY_PATH, STATX_TYPE_SIZE_AND_BLOCKS, answer),
                    errno);
            if (result < 0) {
                return new Extent(result, 0);
            }
            boolean regular = (answer.get(JAVA_SHORT, STATX_MODE) & S_IFMT) == S_IFREG;
            long bytes = answer.get(JAVA_LONG, STATX_SIZE);
            long taken = answer.get(JAVA_LONG, STATX_BLOCKS) * BLOCK;
            answer.asSlice(0, STATFS_BYTES).fill((byte) 0);
            result = result((int) STATFS.invokeExact(errno, fd, answer), errno);
            if (result == 0 && !(regular && answer.get(JAVA_LONG, 0) == TMPFS)) {
                result = -Errno.EINVAL.number();
            }
            return new Extent(result < 0 ? result : bytes, taken);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    private static int page() {
        try (Arena arena = Arena.ofConfined()) {
            return (int) Libc.function("getpagesize", JAVA_INT).invokeExact(arena.allocate(JAVA_INT));
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    private static int result(int result, MemorySegment errno) {
        return result < 0 ? -errno.get(JAVA_INT, 0) : result;
    }

    private static long result(long result, MemorySegment errno) {
        return result == -1 ? -errno.get(JAVA_INT, 0) : result;
    }

    /// The size in whole pages.
    public static long inPages(long bytes) {
        long page = PAGE;
        return Math.min(bytes, Long.MAX_VALUE - page) + page - 1 & -page;
    }
}
