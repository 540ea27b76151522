// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.RefCount;
import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What native code could try against sealed memory. Each answers with the negative error number.
final class Attack {

    private static final MethodHandle PWRITE =
            Libc.function("pwrite", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle READ = Libc.function("read", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle WRITE = Libc.function("write", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
    private static final MethodHandle PIPE = Libc.function("pipe", JAVA_INT, ADDRESS);
    private static final MethodHandle MPROTECT = Libc.function("mprotect", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle PUNCH =
            Libc.function("fallocate", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);

    private static final MethodHandle OPEN = Libc.variadic("open", 2, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle MEMFD = Libc.function("memfd_create", JAVA_INT, ADDRESS, JAVA_INT);

    private Attack() {}

    /// The program of a JVM of its own: writes into sealed memory through a made-up segment.
    static final class ThroughAnAddress {

        // restricted: the attack
        @SuppressWarnings("restricted")
        public static void main(String[] args) {
            SealedBuffer buffer = BufferBuilder.create(MemfdSource.create())
                    .put(new byte[4096])
                    .seal();
            MemorySegment made =
                    MemorySegment.ofAddress(buffer.iovec().region(0).address()).reinterpret(4096);
            System.out.println("read " + made.get(JAVA_BYTE, 5));
            System.out.flush();
            made.set(JAVA_BYTE, 5, (byte) 42);
            System.out.println("wrote " + buffer.iovec().region(0).get(JAVA_BYTE, 5));
        }
    }

    /// How to start a `main` of these tests in a JVM of its own, on the class path.
    static List<String> command(Class<?> main) {
        String classPath = Stream.of(RefCount.class, IoVec.class, SealedBuffer.class, MemfdSource.class, main)
                .map(Attack::rootOf)
                .distinct()
                .collect(Collectors.joining(File.pathSeparator));
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:-CreateCoredumpOnCrash",
                "-XX:ErrorFile=/dev/null",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                classPath,
                main.getName());
    }

    private static String rootOf(Class<?> type) {
        String entry = type.getName().replace('.', '/') + ".class";
        String url = type.getResource("/" + entry).toString();
        String root = url.substring(0, url.length() - entry.length());
        if (root.startsWith("jar:")) {
            root = root.substring("jar:".length(), root.length() - "!/".length());
        }
        return Path.of(URI.create(root)).toString();
    }

    static int fd(SealedBuffer buffer) throws PosixException {
        Descriptor descriptor = SealedFile.of(buffer.iovec().region(0)).descriptor();
        int fd = descriptor.enter("test");
        descriptor.leave();
        return fd;
    }

    static long pwrite(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(JAVA_INT);
            return result((long) PWRITE.invokeExact(errno, fd, arena.allocate(1), 1L, 0L), errno);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// `read(2)` of a byte from a pipe into the memory.
    static long readInto(MemorySegment memory) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(JAVA_INT);
            MemorySegment ends = arena.allocate(8, 4);
            int made = (int) PIPE.invokeExact(errno, ends);
            int out = ends.get(JAVA_INT, 0);
            int in = ends.get(JAVA_INT, 4);
            long written = (long) WRITE.invokeExact(errno, in, arena.allocate(1), 1L);
            long result = made + written != 1
                    ? 1000
                    : result((long) READ.invokeExact(errno, out, memory.address(), 1L), errno);
            Call.current().close(in);
            Call.current().close(out);
            return result;
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// Two ends of a pipe.
    static int[] pipe() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment ends = arena.allocate(8, 4);
            int made = (int) PIPE.invokeExact(arena.allocate(JAVA_INT), ends);
            return new int[] {ends.get(JAVA_INT, 0) + made, ends.get(JAVA_INT, 4)};
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    static int fd(PosixSocket socket) throws PosixException {
        return (int) socket.stream().wait("test", Libc.POLLIN, fd -> fd);
    }

    static int open(Path path) {
        try (Arena arena = Arena.ofConfined()) {
            return (int) OPEN.invokeExact(arena.allocate(JAVA_INT), arena.allocateFrom(path.toString()), 0);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// A memory file of huge pages that can be sealed; -1 if there is no such thing here.
    static int hugePages() {
        try (Arena arena = Arena.ofConfined()) {
            return (int) MEMFD.invokeExact(arena.allocate(JAVA_INT), arena.allocateFrom("huge"), 0x7);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// A hand-over with more descriptors than [Call#control] has room for.
    static void sendMany(int socket, int magic, int... descriptors) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment header = arena.allocate(64, 8);
            header.set(JAVA_INT, 0, Integer.reverseBytes(magic));
            MemorySegment iov = arena.allocate(16, 8);
            iov.set(ADDRESS, 0, header);
            iov.set(JAVA_LONG, 8, 64);
            MemorySegment control = arena.allocate(16 + 4L * descriptors.length, 8);
            control.set(JAVA_LONG, 0, control.byteSize());
            control.set(JAVA_INT, 8, Libc.SOL_SOCKET);
            control.set(JAVA_INT, 12, 1);
            MemorySegment.copy(descriptors, 0, control, JAVA_INT, 16, descriptors.length);
            MemorySegment message = arena.allocate(Call.MSGHDR_BYTES, 8);
            message.set(ADDRESS, Call.MSGHDR_IOV, iov);
            message.set(JAVA_LONG, Call.MSGHDR_IOVLEN, 1);
            message.set(ADDRESS, Call.MSGHDR_CONTROL, control);
            message.set(JAVA_LONG, Call.MSGHDR_CONTROLLEN, control.byteSize());
            if (Call.current().sendmsg(socket, message, 0) != 64) {
                throw new AssertionError("not sent");
            }
        }
    }

    static long makeWritable(MemorySegment memory) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(JAVA_INT);
            return result((int) MPROTECT.invokeExact(errno, memory.address(), memory.byteSize(), 3), errno);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// Takes a page out of the file.
    static long punch(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(JAVA_INT);
            return result((int) PUNCH.invokeExact(errno, fd, 3, 0L, 4096L), errno);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    private static long result(long result, MemorySegment errno) {
        return result < 0 ? -errno.get(JAVA_INT, 0) : result;
    }
}
