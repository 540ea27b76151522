// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.List;

/// An interface of the kernel whose other end is this process: Linux's TAP, with Ethernet frames behind a
/// `virtio_net_hdr`, so that the kernel hands over up to 64 KiB of a TCP stream at once, as it does to a card that
/// cuts them.
///
/// Source: Linux, `Documentation/networking/tuntap.rst`, `include/uapi/linux/if_tun.h`.
@SuppressWarnings("restricted")
final class Tap {

    /// Before each frame, to be handed on as it came.
    static final int HEADER = 10;

    private static final int O_RDWR = 2;
    private static final int O_NONBLOCK = 0x800;
    private static final long TUNSETIFF = 0x400454caL;
    private static final long TUNSETOFFLOAD = 0x400454d0L;
    private static final short IFF_TAP = 0x0002;
    private static final short IFF_NO_PI = 0x1000;
    private static final short IFF_VNET_HDR = 0x4000;
    // checksums, segments of IPv4, of IPv6, with ECN
    private static final long OFFLOADS = 0x01 | 0x02 | 0x04 | 0x08;
    private static final long IFREQ = 40;
    private static final long FLAGS = 16;
    private static final short POLLIN = 1;
    private static final long POLLFD = 8;
    private static final int EAGAIN = 11;
    private static final int EINTR = 4;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final MethodHandle OPEN =
            variadic("open", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
    private static final MethodHandle IOCTL_POINTER = variadic(
            "ioctl",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
    private static final MethodHandle IOCTL_LONG = variadic(
            "ioctl",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
    private static final MethodHandle READ = plain("read");
    private static final MethodHandle WRITE = plain("write");
    private static final MethodHandle PPOLL = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("ppoll"),
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS),
            Linker.Option.captureCallState("errno"));

    // one thread's, as all of this
    private static final MemorySegment FAILURE = Arena.global().allocate(STATE);

    private final int descriptor;
    private final String name;

    /// @param name of the interface, which is made in the namespace of this process and goes with it
    /// @throws IOException if there is no `/dev/net/tun`, or this user may not
    Tap(String name) throws IOException {
        this.name = name;
        try (Arena arena = Arena.ofConfined()) {
            descriptor = (int) OPEN.invokeExact(FAILURE, arena.allocateFrom("/dev/net/tun"), O_RDWR | O_NONBLOCK);
            check("open /dev/net/tun", descriptor);
            MemorySegment request = arena.allocate(IFREQ);
            request.setString(0, name);
            request.set(ValueLayout.JAVA_SHORT, FLAGS, (short) (IFF_TAP | IFF_NO_PI | IFF_VNET_HDR));
            check("TUNSETIFF", (int) IOCTL_POINTER.invokeExact(FAILURE, descriptor, TUNSETIFF, request));
            check("TUNSETOFFLOAD", (int) IOCTL_LONG.invokeExact(FAILURE, descriptor, TUNSETOFFLOAD, OFFLOADS));
        } catch (IOException | RuntimeException | Error known) {
            throw known;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static MethodHandle variadic(String function, FunctionDescriptor type) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(function),
                type,
                Linker.Option.firstVariadicArg(2),
                Linker.Option.captureCallState("errno"));
    }

    private static MethodHandle plain(String function) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(function),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG),
                Linker.Option.captureCallState("errno"));
    }

    private void check(String call, int result) throws IOException {
        if (result < 0) {
            throw new IOException(call + " failed: interface=" + name + " errno=" + (int) ERRNO.get(FAILURE, 0L));
        }
    }

    /// A frame with its header, if there is one.
    ///
    /// @return its bytes, or -1
    long read(MemorySegment to) {
        try {
            return (long) READ.invokeExact(FAILURE, descriptor, to, to.byteSize());
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /// @return false if the kernel does not take the frame, as it does not while the interface is down
    boolean write(MemorySegment frame, long bytes) {
        try {
            return (long) WRITE.invokeExact(FAILURE, descriptor, frame, bytes) == bytes;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /// Which of some interfaces have a frame to be read.
    static final class Poll {

        private final MemorySegment all;
        private final MemorySegment time = Arena.global().allocate(16, 8);
        private final int taps;

        Poll(List<Tap> taps) {
            this.taps = taps.size();
            all = Arena.global().allocate(POLLFD * taps.size(), 8);
            for (int i = 0; i < taps.size(); i++) {
                all.set(ValueLayout.JAVA_INT, POLLFD * i, taps.get(i).descriptor);
                all.set(ValueLayout.JAVA_SHORT, POLLFD * i + 4, POLLIN);
            }
        }

        /// Waits until there is one, or the time is over.
        void await(long nanos) throws IOException {
            time.set(ValueLayout.JAVA_LONG, 0, nanos / 1_000_000_000);
            time.set(ValueLayout.JAVA_LONG, 8, nanos % 1_000_000_000);
            int ready;
            try {
                ready = (int) PPOLL.invokeExact(FAILURE, all, (long) taps, time, MemorySegment.NULL);
            } catch (Throwable impossible) {
                throw new AssertionError(impossible);
            }
            if (ready < 0) {
                int errno = (int) ERRNO.get(FAILURE, 0L);
                if (errno != EAGAIN && errno != EINTR) {
                    throw new IOException("ppoll failed: errno=" + errno);
                }
                for (int i = 0; i < taps; i++) {
                    all.set(ValueLayout.JAVA_SHORT, POLLFD * i + 6, (short) 0);
                }
            }
        }

        boolean isReady(int tap) {
            return all.get(ValueLayout.JAVA_SHORT, POLLFD * tap + 6) != 0;
        }
    }
}
