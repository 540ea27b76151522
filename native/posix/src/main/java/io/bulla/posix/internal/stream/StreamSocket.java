// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.stream;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.Endpoint;
import io.bulla.posix.internal.calls.Libc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;

/// The descriptor of a stream socket, its state, and the calls that are not for users. Any thread may call; one
/// may send while another one receives, as with a `PosixSocket`.
///
/// ```
/// open --breakStream--> broken: each call says why;  open, broken --close--> closed
/// ```
public final class StreamSocket implements AutoCloseable {

    private static final int SOCKADDR_BYTES = 16;
    private static final int UCRED_BYTES = 12;

    private final Descriptor descriptor;
    // volatile: one of several closers leaves the descriptor; the atomic step is all it needs
    private final AtomicBoolean closed = new AtomicBoolean();
    // volatile: seen soon by the other threads; nothing else hangs on it
    private volatile boolean blocking = true;

    /// Takes `fd` over.
    public StreamSocket(int fd) {
        this.descriptor = new Descriptor(fd, "socket");
    }

    /// Two connected unix sockets.
    ///
    /// @throws PosixException if the system refuses
    public static StreamSocket[] unixPair() throws PosixException {
        Call call = Call.current();
        check("socketpair", call.socketpair(Libc.AF_UNIX, Libc.SOCK_STREAM | Libc.SOCK_CLOEXEC), "");
        return new StreamSocket[] {
            new StreamSocket(call.option.get(JAVA_INT, 0)), new StreamSocket(call.option.get(JAVA_INT, 4))
        };
    }

    /// Connects to a unix socket.
    ///
    /// @throws PosixException if there is no listener, or the system refuses
    public static StreamSocket connect(Path path) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            return new StreamSocket(Endpoint.of(arena, path).connect());
        }
    }

    /// Listens on a unix socket. The file stays when the socket is closed.
    ///
    /// @throws PosixException if the system refuses
    public static StreamSocket listen(Path path) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            return new StreamSocket(Endpoint.of(arena, path).listen());
        }
    }

    /// Waits for a connection.
    ///
    /// @throws PosixException if this socket is closed meanwhile, or the system refuses
    public StreamSocket accept() throws PosixException {
        int fd = descriptor.enter("accept4");
        try {
            return new StreamSocket(check("accept4", Call.current().accept(fd), descriptor.toString()));
        } finally {
            descriptor.leave();
        }
    }

    /// @throws PosixException if the socket is closed
    public int port() throws PosixException {
        int fd = descriptor.enter("getsockname");
        try {
            Call call = Call.current();
            check("getsockname", call.getsockname(fd), descriptor.toString());
            return Short.toUnsignedInt(call.option.get(JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN), 2));
        } finally {
            descriptor.leave();
        }
    }

    /// @throws PosixException if the socket is closed
    public void setBlocking(boolean wait) throws PosixException {
        int fd = descriptor.enter("fcntl");
        try {
            Call call = Call.current();
            int flags = check("fcntl", call.fcntl(fd, Libc.F_GETFL, 0), descriptor.toString());
            int wanted = wait ? flags & ~Libc.O_NONBLOCK : flags | Libc.O_NONBLOCK;
            check("fcntl", call.fcntl(fd, Libc.F_SETFL, wanted), descriptor.toString());
            blocking = wait;
        } finally {
            descriptor.leave();
        }
    }

    /// As `PosixSocket.receive`.
    public long receive(MemorySegment target) throws PosixException {
        if (target.isReadOnly() || !target.isNative() || target.byteSize() == 0) {
            throw new IllegalArgumentException("cannot receive into this: byteSize=" + target.byteSize() + " readOnly="
                    + target.isReadOnly() + " native=" + target.isNative());
        }
        int fd = descriptor.enter("recv");
        try {
            long result = Call.current().recv(fd, target, target.byteSize(), flags());
            if (result < 0 && result != -Libc.EAGAIN) {
                throw failed("recv", result);
            }
            return result == 0 ? -1 : Math.max(0, result);
        } finally {
            descriptor.leave();
        }
    }

    /// Waits for one of `events`.
    ///
    /// @param millis how long; -1 for ever
    /// @return false if the time is over
    /// @throws PosixException if the socket is closed
    public boolean await(short events, int millis) throws PosixException {
        int fd = descriptor.enter("poll");
        try {
            long result = Call.current().poll(fd, events, millis);
            if (result < 0) {
                throw failed("poll", result);
            }
            return result != 0;
        } finally {
            descriptor.leave();
        }
    }

    public boolean isOpen() {
        return !closed.get();
    }

    /// As `PosixSocket.close`.
    @Override
    public void close() {
        // first what may fail
        Call call = Call.current();
        if (closed.compareAndSet(false, true)) {
            // the closing thread still has its claim
            call.shutdown(descriptor.fd(), Libc.SHUT_RDWR);
            descriptor.close();
        }
    }

    /// As `PosixSocket.abort`.
    public void abort() {
        if (!descriptor.tryEnter()) {
            return;
        }
        try {
            // one of the two is enough for the memory
            Call.current().setsockopt(descriptor.fd(), Libc.SOL_SOCKET, Libc.SO_LINGER, 1, 0);
            disconnect(descriptor.fd());
        } finally {
            descriptor.leave();
        }
        close();
    }

    /// Ends a stream that lacks a part, for the peer must not take what comes next for what is missing: the
    /// connection is aborted, and every later call says why.
    ///
    /// @param first what went wrong
    public void breakStream(Throwable first) {
        // one that its owner has closed lets no call in anyway, and says so
        if (isOpen()) {
            descriptor.breakWith(String.valueOf(first.getMessage()));
            abort();
        }
    }

    public Descriptor descriptor() {
        return descriptor;
    }

    /// Throws away what the peer has not taken, and resets the connection: the shutdown in a close comes too
    /// early for that, the peer would read the end of the stream as if all had been sent. Not for unix sockets,
    /// which keep nothing of the sender's. The descriptor stays, and with it the kernel's word on who reads
    /// what.
    public static void disconnect(int fd) {
        Call call = Call.current();
        call.option.asSlice(0, SOCKADDR_BYTES).fill((byte) 0);
        if (call.connect(fd, call.option, SOCKADDR_BYTES) < 0) {
            // a unix socket refuses again; any other is worth a second try
            call.connect(fd, call.option, SOCKADDR_BYTES);
        }
    }

    /// A call on the descriptor: a result, or a negative error number.
    public interface OnDescriptor {
        long call(int fd);
    }

    /// Makes a call, again whenever it would have to wait and does not.
    ///
    /// @return what the call answered, at least 0
    public long wait(String name, short events, OnDescriptor call) throws PosixException {
        int fd = descriptor.enter(name);
        try {
            while (true) {
                long result = call.call(fd);
                if (result >= 0) {
                    return result;
                }
                if (result != -Libc.EAGAIN) {
                    throw failed(name, result);
                }
                awaitReady(fd, events);
            }
        } finally {
            descriptor.leave();
        }
    }

    /// Waits as long as it takes, for a caller that has entered.
    public void awaitReady(int fd, short events) throws PosixException {
        long result = Call.current().poll(fd, events, -1);
        if (result < 0) {
            throw failed("poll", result);
        }
    }

    /// Tells whether descriptors can travel over this socket.
    public boolean isUnix() throws PosixException {
        int fd = descriptor.enter("getsockname");
        try {
            Call call = Call.current();
            check("getsockname", call.getsockname(fd), descriptor.toString());
            return call.option.get(JAVA_SHORT, 0) == Libc.AF_UNIX;
        } finally {
            descriptor.leave();
        }
    }

    /// The process at the other end of a unix socket, as it was when it connected.
    ///
    /// @param pid 0 if it is in a name space that this process does not see
    public record Owner(int pid, int uid) {}

    /// @throws PosixException if the system refuses
    public Owner peer() throws PosixException {
        int fd = descriptor.enter("getsockopt");
        try {
            Call call = Call.current();
            int result = call.getsockopt(fd, Libc.SOL_SOCKET, Libc.SO_PEERCRED, UCRED_BYTES);
            check("getsockopt", result, descriptor.toString());
            return new Owner(call.option.get(JAVA_INT, 0), call.option.get(JAVA_INT, 4));
        } finally {
            descriptor.leave();
        }
    }

    /// Ends the stream that comes; a thread that waits for it wakes. What goes out still does.
    public void stopReceiving() {
        if (descriptor.tryEnter()) {
            try {
                Call.current().shutdown(descriptor.fd(), Libc.SHUT_RD);
            } finally {
                descriptor.leave();
            }
        }
    }

    /// @throws PosixException if the socket is closed, or the system refuses
    public void setOption(int level, int name, int... values) throws PosixException {
        int fd = descriptor.enter("setsockopt");
        try {
            check("setsockopt", Call.current().setsockopt(fd, level, name, values), descriptor.toString());
        } finally {
            descriptor.leave();
        }
    }

    /// Flags of a call that waits only if this socket does.
    public int flags() {
        return blocking ? 0 : Libc.MSG_DONTWAIT;
    }

    public PosixException failed(String call, long result) {
        return CallFailure.of(call, (int) -result, descriptor.toString());
    }

    @Override
    public String toString() {
        return descriptor + (isOpen() ? " open" : " closed");
    }

    private static int check(String call, int result, String what) throws PosixException {
        if (result < 0) {
            throw CallFailure.of(call, -result, what);
        }
        return result;
    }
}
