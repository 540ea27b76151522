// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.stream.StreamSocket;
import java.util.Deque;
import java.util.LinkedList;
import org.jspecify.annotations.Nullable;

/// The sends of one socket, in order: a stream takes one call at a time. Belongs to its outbox's thread.
///
/// While one of them is not done the descriptor stays, even when the socket is closed, so that the kernel can be made
/// to let go.
final class Lane {

    final PosixSocket socket;
    /// Sends that have not ended; the first one is being called, or will be next.
    /// By links: an add that finds no heap leaves the others.
    final Deque<SocketSend> waiting = new LinkedList<>();
    /// Of those that are to be called next, one behind the other ([ReadyLanes]).
    boolean ready;

    @Nullable
    Lane nextReady;
    /// The kernel was given a call, or asked to tell when the socket is ready, and has not answered.
    boolean busy;
    /// Until the kernel refuses: the socket has none, or no more memory may be locked.
    boolean zeroCopy = true;
    /// The next call would not be taken: wait for the socket first.
    boolean wantsReady;
    private int fd;
    private int unfinished;

    Lane(PosixSocket socket) {
        this.socket = socket;
    }

    /// @param handle closed if this fails
    SocketSend add(SealedBuffer handle) throws PosixException {
        try {
            fd = socket.stream().descriptor().enter("send");
        } catch (PosixException | RuntimeException | Error closedOrBroken) {
            handle.close();
            throw closedOrBroken;
        }
        if (unfinished++ > 0) {
            // one claim for all
            socket.stream().descriptor().leave();
        }
        SocketSend send = null;
        try {
            send = SocketSend.of(socket, handle);
            waiting.add(send);
            return send;
        } catch (Throwable failure) {
            try {
                if (send != null) {
                    send.giveUp(Errno.ECANCELED.number());
                }
            } finally {
                done();
            }
            throw failure;
        }
    }

    /// Good while something is not done.
    int fd() {
        return fd;
    }

    /// One send is done.
    void done() {
        if (--unfinished == 0) {
            socket.stream().descriptor().leave();
        }
    }

    /// Takes back the one that was added last and not called: what was to be done beside it failed.
    void takeBack(SocketSend last) {
        waiting.removeLastOccurrence(last);
        try {
            if (!last.isEnded()) {
                last.giveUp(Errno.ECANCELED.number());
            }
        } finally {
            done();
        }
    }

    boolean isFinished() {
        return unfinished == 0;
    }

    /// Makes the kernel let go, and breaks the stream.
    void abort() {
        socket.abort();
        // does nothing where abort has done so; it has not on a socket that was closed before
        disconnect();
    }

    /// Resets the connection. While something is not done.
    void disconnect() {
        StreamSocket.disconnect(fd);
    }
}
