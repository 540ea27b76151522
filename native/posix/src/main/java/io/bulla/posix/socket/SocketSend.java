// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.NativeIoVec;
import io.bulla.iovec.NativeIoVecCursor;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.Libc;
import io.bulla.refcount.KernelSend;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// One buffer on its way through one socket, whose memory the kernel may read after it accepted the bytes.
///
/// It owns the buffer's handle, by a move: the one that was given is closed, its successor is closed once, when
/// the kernel has done with the memory, whatever the outcome. Its questions are answered to any thread.
public final class SocketSend {

    private static final long MOST_BYTES = 1 << 30;
    private static final int SCRATCH_ENTRIES = 64;

    final PosixSocket socket;
    final KernelSend kernel;
    private final Arena arena;
    private final NativeIoVecCursor cursor;
    private final MemorySegment header;
    private final long byteSize;
    // volatile: seen soon by any thread that asks; nothing else hangs on it
    private volatile @Nullable SendPath path;

    /// A send of the calling thread's.
    ///
    /// @param handle closed if this fails
    static SocketSend of(PosixSocket socket, SealedBuffer handle) {
        boolean made = false;
        try {
            SocketSend send = new SocketSend(socket, handle);
            made = true;
            return send;
        } finally {
            if (!made) {
                // there may be no heap for the send itself; again is harmless
                handle.close();
            }
        }
    }

    private SocketSend(PosixSocket socket, SealedBuffer handle) {
        Arena memory;
        SealedBuffer own;
        try (handle) {
            memory = Arena.ofConfined();
            // a handle of the send's own: a stray close of the given one cannot free what the kernel reads
            own = handle.move(handle.tag());
        }
        try {
            this.cursor = NativeIoVecCursor.of(NativeIoVec.of(own.iovec().lent(), memory), memory, SCRATCH_ENTRIES);
            this.header = memory.allocate(Call.MSGHDR_BYTES, 8);
            this.byteSize = cursor.remaining();
            this.kernel = new KernelSend(own, byteSize);
        } catch (Throwable failure) {
            memory.close();
            own.close();
            throw failure;
        }
        this.socket = socket;
        this.arena = memory;
        releaseIfEnded();
    }

    /// The bytes that the next call offers.
    MemorySegment window() {
        return cursor.window(Libc.IOV_MAX, MOST_BYTES);
    }

    int windowEntries() {
        return cursor.windowEntries();
    }

    /// The next window behind a message header, good until the kernel was given the call.
    MemorySegment message() {
        header.set(ADDRESS, Call.MSGHDR_IOV, window());
        header.set(JAVA_LONG, Call.MSGHDR_IOVLEN, windowEntries());
        return header;
    }

    /// Whether the kernel took some bytes, so that the stream has begun with this one.
    boolean hasBegun() {
        return kernel.remaining() < byteSize;
    }

    void begin(SendPath next) {
        kernel.begin();
        path = next;
    }

    void accepted(long bytes, boolean notificationFollows) {
        cursor.advance(bytes);
        try {
            kernel.accepted(bytes, notificationFollows);
        } finally {
            // also if a listener of the handle's threw
            releaseIfEnded();
        }
    }

    void failed(int errno, boolean notificationFollows) {
        try {
            kernel.failed(errno, notificationFollows);
        } finally {
            releaseIfEnded();
        }
    }

    void giveUp(int errno) {
        try {
            kernel.giveUp(errno);
        } finally {
            releaseIfEnded();
        }
    }

    /// Tells whether no further call is made for it: the socket accepted all bytes, or it failed.
    ///
    /// @return true from then on
    public boolean isEnded() {
        return kernel.isEnded();
    }

    /// Tells whether the kernel has done with the memory, and the handle is closed.
    ///
    /// @return true some time after [#isEnded()]
    public boolean isDone() {
        return kernel.isDone();
    }

    /// Why it failed.
    ///
    /// @return `null` if all bytes were accepted, or it has not ended
    public @Nullable PosixException failure() {
        return kernel.isEnded() && kernel.error() != 0
                ? CallFailure.of("send", kernel.error(), "remaining=" + kernel.remaining() + " path=" + path)
                : null;
    }

    /// How the last call gave the kernel its bytes.
    ///
    /// @return `null` before the first call
    public @Nullable SendPath path() {
        return path;
    }

    @Override
    public String toString() {
        return "SocketSend[" + kernel + " path=" + path + "]";
    }

    /// The image is needed for calls only.
    private void releaseIfEnded() {
        if (kernel.isEnded()) {
            arena.close();
        }
    }
}
