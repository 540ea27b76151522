// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.bulla.posix.PosixException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// Where a stream socket connects to or listens, as the kernel wants it.
///
/// ```
/// sockaddr_un:   0 family  2 path, zero-terminated                                 3 bytes and the path
/// sockaddr_in:   0 family  2 port  4 address  8 zeros                                          16 bytes
/// sockaddr_in6:  0 family  2 port  4 flow     8 address  24 scope                              28 bytes
/// ```
///
/// Ports are big-endian, all else is in the machine's order.
///
/// @param domain `AF_UNIX`, `AF_INET` or `AF_INET6`
/// @param address good while its arena is
/// @param where for messages
public record Endpoint(int domain, MemorySegment address, String where) {

    private static final int BACKLOG = 128;
    private static final int LONGEST_PATH = 107;
    private static final int MOST_PORT = 0xffff;
    private static final byte[] LOOPBACK = {127, 0, 0, 1};
    private static final ValueLayout.OfShort PORT = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

    public static Endpoint of(Arena arena, Path path) {
        byte[] bytes = path.toString().getBytes(StandardCharsets.UTF_8);
        if (bytes.length > LONGEST_PATH) {
            throw new IllegalArgumentException("path too long for a unix socket: bytes=" + bytes.length + " limit="
                    + LONGEST_PATH + " path=" + path);
        }
        MemorySegment address = arena.allocate(2L + bytes.length + 1, 8);
        address.set(JAVA_SHORT, 0, (short) Libc.AF_UNIX);
        MemorySegment.copy(bytes, 0, address, JAVA_BYTE, 2, bytes.length);
        return new Endpoint(Libc.AF_UNIX, address, "path=" + path);
    }

    public static Endpoint of(Arena arena, InetSocketAddress host) {
        if (host.isUnresolved()) {
            throw new IllegalArgumentException("no such host: " + host.getHostString());
        }
        byte[] bytes = host.getAddress().getAddress();
        boolean six = host.getAddress() instanceof Inet6Address;
        MemorySegment address = arena.allocate(six ? 28 : 16, 8);
        address.set(JAVA_SHORT, 0, (short) (six ? Libc.AF_INET6 : Libc.AF_INET));
        address.set(PORT, 2, (short) host.getPort());
        MemorySegment.copy(bytes, 0, address, JAVA_BYTE, six ? 8 : 4, bytes.length);
        if (six) {
            address.set(JAVA_INT, 24, ((Inet6Address) host.getAddress()).getScopeId());
        }
        return new Endpoint(
                six ? Libc.AF_INET6 : Libc.AF_INET,
                address,
                "host=" + host.getAddress().getHostAddress() + " port=" + host.getPort());
    }

    /// A port of this host, IPv4.
    public static InetSocketAddress loopback(int port) {
        if (port < 0 || port > MOST_PORT) {
            throw new IllegalArgumentException("no such TCP port: port=" + port);
        }
        try {
            return new InetSocketAddress(InetAddress.getByAddress(LOOPBACK), port);
        } catch (java.net.UnknownHostException fourBytesAreGood) {
            throw new AssertionError(fourBytesAreGood);
        }
    }

    /// @return the descriptor of a connected socket, without Nagle's delay
    public int connect() throws PosixException {
        return open((call, fd) -> {
            if (domain != Libc.AF_UNIX) {
                check("setsockopt", call.setsockopt(fd, Libc.IPPROTO_TCP, Libc.TCP_NODELAY, 1));
            }
            check("connect", call.connect(fd, address, (int) address.byteSize()));
        });
    }

    /// @return the descriptor of a listening socket; after an exception there is no file of it
    public int listen() throws PosixException {
        return open((call, fd) -> {
            check("setsockopt", call.setsockopt(fd, Libc.SOL_SOCKET, Libc.SO_REUSEADDR, 1));
            check("bind", call.bind(fd, address, (int) address.byteSize()));
            int listening = call.listen(fd, BACKLOG);
            if (listening < 0 && domain == Libc.AF_UNIX) {
                // the bind has made it; what is thrown says more than a file that stays
                Path.of(address.getString(2)).toFile().delete();
            }
            check("listen", listening);
        });
    }

    private interface Opening {
        void with(Call call, int fd) throws PosixException;
    }

    private int open(Opening how) throws PosixException {
        Call call = Call.current();
        int fd = check("socket", call.socket(domain, Libc.SOCK_STREAM | Libc.SOCK_CLOEXEC));
        try {
            how.with(call, fd);
            return fd;
        } catch (Throwable failure) {
            call.close(fd);
            throw failure;
        }
    }

    private int check(String name, int result) throws PosixException {
        if (result < 0) {
            throw CallFailure.of(name, -result, where);
        }
        return result;
    }
}
