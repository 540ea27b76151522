// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.iovec.NativeIoVecCursor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;

/// A stream socket of this module's own, unix or TCP, for gathering sends of sealed memory without a copy in
/// Java.
///
/// Sends take one window of a cursor at a time ([#writev], [#sendmsg]) or a whole buffer ([#send]). The kernel
/// reads the memory by address and the JDK cannot see it: the sender holds a handle until the call has
/// returned. [#send] owns the handle that it is given.
///
/// Sockets are blocking unless told otherwise. One thread may send while another one receives; two threads that
/// send at once must agree who is first. Closing wakes every thread that is blocked in a call. A call that blocks pins
/// a virtual thread's carrier.
public final class PosixSocket implements AutoCloseable {

    private static final long MOST_BYTES = 1 << 30;
    private static final int SOCKADDR_BYTES = 16;
    private static final int UCRED_BYTES = 12;
    private static final long MMSGHDR_BYTES = 64;

    private final Descriptor descriptor;
    // volatile: one of several closers leaves the descriptor; the atomic step is all it needs
    private final AtomicBoolean closed = new AtomicBoolean();
    // volatile: seen soon by the other threads; nothing else hangs on it
    private volatile boolean blocking = true;

    PosixSocket(int fd) {
        this.descriptor = new Descriptor(fd, "socket");
    }

    /// Two connected unix sockets.
    ///
    /// @return an array of two
    /// @throws PosixException if the system refuses
    public static PosixSocket[] unixPair() throws PosixException {
        Call call = Call.current();
        check("socketpair", call.socketpair(Libc.AF_UNIX, Libc.SOCK_STREAM | Libc.SOCK_CLOEXEC), "");
        return new PosixSocket[] {
            new PosixSocket(call.option.get(JAVA_INT, 0)), new PosixSocket(call.option.get(JAVA_INT, 4))
        };
    }

    /// Connects to a unix socket.
    ///
    /// @param path at most 107 bytes
    /// @return a connected socket
    /// @throws PosixException if there is no listener, or the system refuses
    public static PosixSocket connect(Path path) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            return new PosixSocket(Endpoint.of(arena, path).connect());
        }
    }

    /// Connects over TCP, IPv4 or IPv6.
    ///
    /// @param host resolved
    /// @return a connected socket, without Nagle's delay
    /// @throws PosixException if there is no listener, or the system refuses
    /// @throws IllegalArgumentException if the name was not resolved
    public static PosixSocket connect(InetSocketAddress host) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            return new PosixSocket(Endpoint.of(arena, host).connect());
        }
    }

    /// Connects to a TCP port of this host.
    ///
    /// @param port from 1 to 65535
    /// @return a connected socket, without Nagle's delay
    /// @throws PosixException if there is no listener, or the system refuses
    public static PosixSocket connect(int port) throws PosixException {
        return connect(Endpoint.loopback(port));
    }

    /// Listens on a unix socket. The file stays when the socket is closed.
    ///
    /// @param path at most 107 bytes, no such file yet
    /// @return a socket to [#accept] on
    /// @throws PosixException if the system refuses
    public static PosixSocket listen(Path path) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            return new PosixSocket(Endpoint.of(arena, path).listen());
        }
    }

    /// Listens on a TCP port, IPv4 or IPv6.
    ///
    /// @param host an address of this host, or the wildcard; port 0 for any that is free, see [#port()]
    /// @return a socket to [#accept] on
    /// @throws PosixException if the port is taken, or the system refuses
    /// @throws IllegalArgumentException if the name was not resolved
    public static PosixSocket listen(InetSocketAddress host) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            return new PosixSocket(Endpoint.of(arena, host).listen());
        }
    }

    /// Listens on a TCP port of the loopback.
    ///
    /// @param port 0 for any that is free, see [#port()]
    /// @return a socket to [#accept] on
    /// @throws PosixException if the port is taken, or the system refuses
    public static PosixSocket listen(int port) throws PosixException {
        return listen(Endpoint.loopback(port));
    }

    /// Waits for a connection.
    ///
    /// @return a connected socket
    /// @throws PosixException if this socket is closed meanwhile, or the system refuses
    public PosixSocket accept() throws PosixException {
        int fd = descriptor.enter("accept4");
        try {
            return new PosixSocket(check("accept4", Call.current().accept(fd), descriptor.toString()));
        } finally {
            descriptor.leave();
        }
    }

    /// The TCP port that this socket is bound to.
    ///
    /// @return from 1 to 65535
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

    /// Chooses whether calls wait.
    ///
    /// @param wait false for calls that answer 0 instead of waiting
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

    /// Asks for a send buffer of a size, which the kernel doubles and bounds.
    ///
    /// @param bytes at least 1
    /// @throws PosixException if the socket is closed
    public void setSendBuffer(int bytes) throws PosixException {
        setOption(Libc.SOL_SOCKET, Libc.SO_SNDBUF, bytes);
    }

    /// Sends the next window of a cursor with one `writev`, and moves the cursor on.
    ///
    /// @param cursor of a send whose memory the caller holds
    /// @return bytes taken; 0 when nothing is left, or when it would block and may not
    /// @throws PosixException.PeerClosed if the peer is gone
    /// @throws PosixException if the socket is closed, or the system refuses; the cursor stays
    public long writev(NativeIoVecCursor cursor) throws PosixException {
        int fd = descriptor.enter("writev");
        try {
            MemorySegment window = cursor.window(Libc.IOV_MAX, MOST_BYTES);
            return took("writev", Call.current().writev(fd, window, cursor.windowEntries()), cursor);
        } finally {
            descriptor.leave();
        }
    }

    /// Sends the next window of a cursor with one `sendmsg`, and moves the cursor on. On a socket that does not
    /// wait the call is made in the short form that does not even change the thread's state.
    ///
    /// @param cursor of a send whose memory the caller holds
    /// @return bytes taken; 0 when nothing is left, or when it would block and may not
    /// @throws PosixException.PeerClosed if the peer is gone
    /// @throws PosixException if the socket is closed, or the system refuses; the cursor stays
    public long sendmsg(NativeIoVecCursor cursor) throws PosixException {
        int fd = descriptor.enter("sendmsg");
        try {
            MemorySegment window = cursor.window(Libc.IOV_MAX, MOST_BYTES);
            return took("sendmsg", Call.current().sendmsg(fd, window, cursor.windowEntries(), flags()), cursor);
        } finally {
            descriptor.leave();
        }
    }

    /// Sends several messages, one after the other, with one `sendmmsg`, and moves their cursors on. It ends
    /// with the first that the kernel does not take whole.
    ///
    /// @param cursors of sends whose memory the caller holds
    /// @return how many of them, from the first on, have nothing left
    /// @throws PosixException.PeerClosed if the peer is gone
    /// @throws PosixException if the socket is closed, or the system refuses; the cursors stay
    public int sendmmsg(NativeIoVecCursor... cursors) throws PosixException {
        int fd = descriptor.enter("sendmmsg");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment headers = arena.allocate(Math.max(1, cursors.length) * MMSGHDR_BYTES, 8);
            int count = 0;
            boolean whole = true;
            for (; count < cursors.length && whole; count++) {
                MemorySegment window = cursors[count].window(Libc.IOV_MAX, MOST_BYTES);
                headers.set(ADDRESS, count * MMSGHDR_BYTES + Call.MSGHDR_IOV, window);
                headers.set(JAVA_LONG, count * MMSGHDR_BYTES + Call.MSGHDR_IOVLEN, cursors[count].windowEntries());
                whole = cursors[count].windowBytes() == cursors[count].remaining();
            }
            long sent = count == 0 ? 0 : Call.current().sendmmsg(fd, headers, count, flags() | Libc.MSG_NOSIGNAL);
            if (sent < 0 && sent != -Libc.EAGAIN) {
                throw failed("sendmmsg", sent);
            }
            int done = 0;
            for (int i = 0; i < sent; i++) {
                cursors[i].advance(headers.get(JAVA_INT, i * MMSGHDR_BYTES + Call.MSGHDR_BYTES));
                done += cursors[i].remaining() == 0 ? 1 : 0;
            }
            return done;
        } finally {
            descriptor.leave();
        }
    }

    /// Sends a whole buffer, waiting for the peer as long as it takes, also on a socket that does not wait by
    /// itself.
    ///
    /// The handle is the send's from now on: it is closed when this returns, whatever the outcome, so no
    /// other close can free the memory beneath the call. To keep the buffer, give a share.
    ///
    /// A send that fails after the kernel took a part leaves a stream that lacks the rest. It is broken: the
    /// connection is aborted, and every later call on this socket fails and says why.
    ///
    /// @param handle of native memory
    /// @throws PosixException.PeerClosed if the peer is gone; any number of bytes may have been taken
    /// @throws PosixException if the socket is closed or broken, or the system refuses
    /// @throws IllegalArgumentException if a region lies on the heap, or its arena was closed
    public void send(SealedBuffer handle) throws PosixException {
        try (handle;
                // a stray close of the given handle must not let another buffer's bytes out
                SealedBuffer own = handle.iovec().isStamped() ? handle.move(handle.tag()) : handle) {
            IoVec bytes = own.iovec();
            WholeSend.send(this, bytes.lent());
            Reference.reachabilityFence(bytes);
        }
    }

    /// Receives what is there, at least one byte.
    ///
    /// @param target writable native memory of at least one byte
    /// @return bytes received; -1 at the end of the stream; 0 when it would block and may not
    /// @throws PosixException if the connection is broken, the socket is closed, or the system refuses
    /// @throws IllegalArgumentException if the target is read-only, empty, or on the heap
    /// @throws IllegalStateException if the target's arena was closed
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

    /// Waits until a send would take something, or the connection is broken.
    ///
    /// @param millis how long; -1 for ever
    /// @return false if the time is over
    /// @throws PosixException if the socket is closed
    public boolean awaitWritable(int millis) throws PosixException {
        return await(Libc.POLLOUT, millis);
    }

    /// Waits until something can be received, the end of the stream included.
    ///
    /// @param millis how long; -1 for ever
    /// @return false if the time is over
    /// @throws PosixException if the socket is closed
    public boolean awaitReadable(int millis) throws PosixException {
        return await(Libc.POLLIN, millis);
    }

    /// Tells whether the socket was not closed.
    ///
    /// @return false for ever after a close
    public boolean isOpen() {
        return !closed.get();
    }

    /// Closes the socket, after what was sent; wakes every thread that is blocked in a call on it. Again is harmless.
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

    /// Closes the socket and throws away what the peer has not taken (`SO_LINGER` of no time): the kernel lets
    /// go of all memory at once. A plain close lets it read on for as long as the peer is stuck. What a
    /// [ZeroCopySocket] or an [Outbox] still sends on this socket fails, and its memory comes back.
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
    void breakStream(Throwable first) {
        // one that its owner has closed lets no call in anyway, and says so
        if (isOpen()) {
            descriptor.breakWith(String.valueOf(first.getMessage()));
            abort();
        }
    }

    Descriptor descriptor() {
        return descriptor;
    }

    /// Throws away what the peer has not taken, and resets the connection: the shutdown in a close comes too
    /// early for that, the peer would read the end of the stream as if all had been sent. Not for unix sockets,
    /// which keep nothing of the sender's. The descriptor stays, and with it the kernel's word on who reads
    /// what.
    static void disconnect(int fd) {
        Call call = Call.current();
        call.option.asSlice(0, SOCKADDR_BYTES).fill((byte) 0);
        if (call.connect(fd, call.option, SOCKADDR_BYTES) < 0) {
            // a unix socket refuses again; any other is worth a second try
            call.connect(fd, call.option, SOCKADDR_BYTES);
        }
    }

    @Override
    public String toString() {
        return "PosixSocket[" + descriptor + (isOpen() ? " open" : " closed") + "]";
    }

    private long took(String name, long result, NativeIoVecCursor cursor) throws PosixException {
        if (result == -Libc.EAGAIN) {
            return 0;
        }
        if (result < 0) {
            throw failed(name, result);
        }
        cursor.advance(result);
        return result;
    }

    /// A call on the descriptor: a result, or a negative error number.
    interface OnDescriptor {
        long call(int fd);
    }

    /// Makes a call, again whenever it would have to wait and does not.
    ///
    /// @return what the call answered, at least 0
    long wait(String name, short events, OnDescriptor call) throws PosixException {
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
    void awaitReady(int fd, short events) throws PosixException {
        long result = Call.current().poll(fd, events, -1);
        if (result < 0) {
            throw failed("poll", result);
        }
    }

    /// Tells whether descriptors can travel over this socket.
    boolean isUnix() throws PosixException {
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
    record Owner(int pid, int uid) {}

    /// @throws PosixException if the system refuses
    Owner peer() throws PosixException {
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
    void stopReceiving() {
        if (descriptor.tryEnter()) {
            try {
                Call.current().shutdown(descriptor.fd(), Libc.SHUT_RD);
            } finally {
                descriptor.leave();
            }
        }
    }

    private boolean await(short events, int millis) throws PosixException {
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

    private void setOption(int level, int name, int... values) throws PosixException {
        int fd = descriptor.enter("setsockopt");
        try {
            check("setsockopt", Call.current().setsockopt(fd, level, name, values), descriptor.toString());
        } finally {
            descriptor.leave();
        }
    }

    /// Flags of a call that waits only if this socket does.
    int flags() {
        return blocking ? 0 : Libc.MSG_DONTWAIT;
    }

    PosixException failed(String call, long result) {
        return CallFailure.of(call, (int) -result, descriptor.toString());
    }

    private static int check(String call, int result, String what) throws PosixException {
        if (result < 0) {
            throw CallFailure.of(call, -result, what);
        }
        return result;
    }
}
