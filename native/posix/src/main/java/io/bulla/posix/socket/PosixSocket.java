// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.iovec.NativeIoVecCursor;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.Endpoint;
import io.bulla.posix.internal.calls.Libc;
import io.bulla.posix.internal.stream.SocketDoor;
import io.bulla.posix.internal.stream.StreamSocket;
import io.bulla.posix.internal.stream.WholeSend;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.nio.file.Path;

/// A stream socket of this module's own, unix or TCP, for gathering sends of sealed memory without a copy in
/// Java.
///
/// Sends take one window of a cursor at a time ([#writev], [#sendmsg]) or a whole buffer ([#moveAndSend]). The
/// kernel reads the memory by address and the JDK cannot see it: the sender holds a handle until the call has
/// returned. [#moveAndSend] owns the handle that it is given.
///
/// Sockets are blocking unless told otherwise. One thread may send while another one receives; two threads that send
/// at once must agree who is first. Closing wakes every thread that is blocked in a call. A call that blocks pins a
/// virtual thread's carrier.
public final class PosixSocket implements AutoCloseable {

    private static final long MOST_BYTES = 1 << 30;
    private static final long MMSGHDR_BYTES = 64;

    static {
        SocketDoor.open(socket -> ((PosixSocket) socket).stream);
    }

    private final StreamSocket stream;

    PosixSocket(StreamSocket stream) {
        this.stream = stream;
    }

    /// Two connected unix sockets.
    ///
    /// @return an array of two
    /// @throws PosixException if the system refuses
    public static PosixSocket[] unixPair() throws PosixException {
        StreamSocket[] pair = StreamSocket.unixPair();
        return new PosixSocket[] {new PosixSocket(pair[0]), new PosixSocket(pair[1])};
    }

    /// Connects to a unix socket.
    ///
    /// @param path at most 107 bytes
    /// @return a connected socket
    /// @throws PosixException if there is no listener, or the system refuses
    public static PosixSocket connect(Path path) throws PosixException {
        return new PosixSocket(StreamSocket.connect(path));
    }

    /// Connects over TCP, IPv4 or IPv6.
    ///
    /// @param host resolved
    /// @return a connected socket, without Nagle's delay
    /// @throws PosixException if there is no listener, or the system refuses
    /// @throws IllegalArgumentException if the name was not resolved
    public static PosixSocket connect(InetSocketAddress host) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            return new PosixSocket(new StreamSocket(Endpoint.of(arena, host).connect()));
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
        return new PosixSocket(StreamSocket.listen(path));
    }

    /// Listens on a TCP port, IPv4 or IPv6.
    ///
    /// @param host an address of this host, or the wildcard; port 0 for any that is free, see [#port()]
    /// @return a socket to [#accept] on
    /// @throws PosixException if the port is taken, or the system refuses
    /// @throws IllegalArgumentException if the name was not resolved
    public static PosixSocket listen(InetSocketAddress host) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            return new PosixSocket(new StreamSocket(Endpoint.of(arena, host).listen()));
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
        return new PosixSocket(stream.accept());
    }

    /// The TCP port that this socket is bound to.
    ///
    /// @return from 1 to 65535
    /// @throws PosixException if the socket is closed
    public int port() throws PosixException {
        return stream.port();
    }

    /// Chooses whether calls wait.
    ///
    /// @param wait false for calls that answer 0 instead of waiting
    /// @throws PosixException if the socket is closed
    public void setBlocking(boolean wait) throws PosixException {
        stream.setBlocking(wait);
    }

    /// Asks for a send buffer of a size, which the kernel doubles and bounds.
    ///
    /// @param bytes at least 1
    /// @throws PosixException if the socket is closed
    public void setSendBuffer(int bytes) throws PosixException {
        stream.setOption(Libc.SOL_SOCKET, Libc.SO_SNDBUF, bytes);
    }

    /// Sends the next window of a cursor with one `writev`, and moves the cursor on.
    ///
    /// @param cursor of a send whose memory the caller holds
    /// @return bytes taken; 0 when nothing is left, or when it would block and may not
    /// @throws PosixException.PeerClosed if the peer is gone
    /// @throws PosixException if the socket is closed, or the system refuses; the cursor stays
    public long writev(NativeIoVecCursor cursor) throws PosixException {
        int fd = stream.descriptor().enter("writev");
        try {
            MemorySegment window = cursor.window(Libc.IOV_MAX, MOST_BYTES);
            return took("writev", Call.current().writev(fd, window, cursor.windowEntries()), cursor);
        } finally {
            stream.descriptor().leave();
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
        int fd = stream.descriptor().enter("sendmsg");
        try {
            MemorySegment window = cursor.window(Libc.IOV_MAX, MOST_BYTES);
            return took("sendmsg", Call.current().sendmsg(fd, window, cursor.windowEntries(), stream.flags()), cursor);
        } finally {
            stream.descriptor().leave();
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
        int fd = stream.descriptor().enter("sendmmsg");
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
            long sent =
                    count == 0 ? 0 : Call.current().sendmmsg(fd, headers, count, stream.flags() | Libc.MSG_NOSIGNAL);
            if (sent < 0 && sent != -Libc.EAGAIN) {
                throw stream.failed("sendmmsg", sent);
            }
            int done = 0;
            for (int i = 0; i < sent; i++) {
                cursors[i].advance(headers.get(JAVA_INT, i * MMSGHDR_BYTES + Call.MSGHDR_BYTES));
                done += cursors[i].remaining() == 0 ? 1 : 0;
            }
            return done;
        } finally {
            stream.descriptor().leave();
        }
    }

    /// Sends a whole buffer as [#moveAndSend], but the caller keeps its handle.
    ///
    /// @param buffer of native memory; stays open, and the caller's
    /// @throws PosixException as [#moveAndSend]
    /// @throws IllegalArgumentException as [#moveAndSend]
    /// @throws io.bulla.buffer.ReleasedBufferException if `buffer` is closed
    public void shareAndSend(SealedBuffer buffer) throws PosixException {
        // a close by another thread must not free the memory beneath the call
        try (SealedBuffer own = buffer.share()) {
            sendWhole(own);
        }
    }

    /// Sends a whole buffer, waiting for the peer as long as it takes, also on a socket that does not wait by
    /// itself.
    ///
    /// The handle is the send's from now on: it is closed when this returns, whatever the outcome, so no
    /// other close can free the memory beneath the call.
    ///
    /// A send that fails after the kernel took a part leaves a stream that lacks the rest. It is broken: the
    /// connection is aborted, and every later call on this socket fails and says why.
    ///
    /// @param handle of native memory
    /// @throws PosixException.PeerClosed if the peer is gone; any number of bytes may have been taken
    /// @throws PosixException if the socket is closed or broken, or the system refuses
    /// @throws IllegalArgumentException if a region lies on the heap, or its arena was closed
    public void moveAndSend(SealedBuffer handle) throws PosixException {
        try (handle;
                // a stray close of the given handle must not let another buffer's bytes out
                SealedBuffer own = handle.iovec().isStamped() ? handle.move(handle.tag()) : handle) {
            sendWhole(own);
        }
    }

    private void sendWhole(SealedBuffer own) throws PosixException {
        IoVec bytes = own.iovec();
        WholeSend.send(stream, bytes.lent());
        Reference.reachabilityFence(bytes);
    }

    /// Receives what is there, at least one byte.
    ///
    /// @param target writable native memory of at least one byte
    /// @return bytes received; -1 at the end of the stream; 0 when it would block and may not
    /// @throws PosixException if the connection is broken, the socket is closed, or the system refuses
    /// @throws IllegalArgumentException if the target is read-only, empty, or on the heap
    /// @throws IllegalStateException if the target's arena was closed
    public long receive(MemorySegment target) throws PosixException {
        return stream.receive(target);
    }

    /// Waits until a send would take something, or the connection is broken.
    ///
    /// @param millis how long; -1 for ever
    /// @return false if the time is over
    /// @throws PosixException if the socket is closed
    public boolean awaitWritable(int millis) throws PosixException {
        return stream.await(Libc.POLLOUT, millis);
    }

    /// Waits until something can be received, the end of the stream included.
    ///
    /// @param millis how long; -1 for ever
    /// @return false if the time is over
    /// @throws PosixException if the socket is closed
    public boolean awaitReadable(int millis) throws PosixException {
        return stream.await(Libc.POLLIN, millis);
    }

    /// Tells whether the socket was not closed.
    ///
    /// @return false for ever after a close
    public boolean isOpen() {
        return stream.isOpen();
    }

    /// Closes the socket, after what was sent; wakes every thread that is blocked in a call on it. Again is harmless.
    @Override
    public void close() {
        stream.close();
    }

    /// Closes the socket and throws away what the peer has not taken (`SO_LINGER` of no time): the kernel lets
    /// go of all memory at once. A plain close lets it read on for as long as the peer is stuck. What a
    /// [ZeroCopySocket] or an [Outbox] still sends on this socket fails, and its memory comes back.
    public void abort() {
        stream.abort();
    }

    /// Access for this package, not for users.
    StreamSocket stream() {
        return stream;
    }

    @Override
    public String toString() {
        return "PosixSocket[" + stream + "]";
    }

    private long took(String name, long result, NativeIoVecCursor cursor) throws PosixException {
        if (result == -Libc.EAGAIN) {
            return 0;
        }
        if (result < 0) {
            throw stream.failed(name, result);
        }
        cursor.advance(result);
        return result;
    }
}
