// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.buffer.SealedBuffer;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A WebSocket message for many channels: framed once, compressed once when the first channel needs it, and then
/// shared, whatever the number of channels. Each write has a handle of its own; closing the message takes none away.
///
/// Thread-safe. One thread compresses, and others that need that form wait for it: [#compress()] does so before.
public final class PreparedMessage implements AutoCloseable {

    private final PreparedMessages settings;
    private final int opcode;
    private final long byteSize;
    private final Wire plain;
    private final ReentrantLock lock = new ReentrantLock();

    // guarded by the lock; gone once it is compressed, or never will be
    private @Nullable SealedBuffer payload;
    private @Nullable Wire deflated;
    private boolean closed;

    /// @param bytes open; the handle stays the caller's
    PreparedMessage(PreparedMessages settings, int opcode, SealedBuffer bytes, boolean compressible) {
        this.settings = settings;
        this.opcode = opcode;
        this.byteSize = bytes.byteSize();
        this.plain = Wire.of(settings.memory(), opcode, false, bytes, settings.fragment());
        try {
            payload = compressible ? bytes.share() : null;
        } catch (Throwable failure) {
            plain.close();
            throw failure;
        }
    }

    /// Size of the message.
    ///
    /// @return in bytes, as it was given
    public long byteSize() {
        return byteSize;
    }

    /// Makes the compressed form now, in this thread.
    ///
    /// @return its size on the wire in bytes; that of the uncompressed form if it is not shorter
    /// @throws io.bulla.buffer.ReleasedBufferException if the message is closed
    /// @throws io.bulla.buffer.MemoryLimitException if there is no memory; a later write tries again
    public long compress() {
        try (SealedBuffer form = form(true).frames().share()) {
            return form.byteSize();
        }
    }

    /// All forms of the message in one buffer, for a [io.bulla.fanout.Fanout] or [io.bulla.fanout.Topics] whose
    /// subscribers are channels ([PreparedMessageHandler#subscribe]): the uncompressed one and, if the message may
    /// be compressed and is shorter then, the compressed one, which is made now. What waits for a slow channel
    /// counts with both.
    ///
    /// @return to be closed, after it was published
    /// @throws io.bulla.buffer.ReleasedBufferException if the message is closed
    /// @throws io.bulla.buffer.MemoryLimitException if there is no memory
    public SealedBuffer forms() {
        Wire second = deflated();
        return second == plain ? plain.frames().share() : SealedBuffer.concat(plain.frames(), second.frames());
    }

    /// The form for a channel, which stays the message's: a share of it says whether it is closed.
    ///
    /// @param compressed whether the channel has agreed to it
    Wire form(boolean compressed) {
        return compressed ? deflated() : plain;
    }

    private Wire deflated() {
        lock.lock();
        try {
            if (closed) {
                // its share says so
                return plain;
            }
            SealedBuffer bytes = payload;
            if (bytes != null) {
                compress(bytes);
            }
            return deflated == null ? plain : deflated;
        } finally {
            lock.unlock();
        }
    }

    /// Under the lock. The memory source may call back: what is made then, or closed, stands.
    private void compress(SealedBuffer bytes) {
        @Nullable Wire made = null;
        boolean whole = false;
        try (SealedBuffer own = bytes.share();
                SealedBuffer shorter = Deflated.of(settings.memory(), settings.level(), own)) {
            made = shorter == null ? null : Wire.of(settings.memory(), opcode, true, shorter, settings.fragment());
            whole = true;
        } finally {
            if (whole) {
                settle(bytes, made);
            }
        }
    }

    private void settle(SealedBuffer bytes, @Nullable Wire made) {
        if (payload == bytes) {
            deflated = made;
            payload = null;
            bytes.close();
        } else if (made != null) {
            made.close();
        }
    }

    /// Closes the message. What was written goes out. Again is harmless.
    @Override
    public void close() {
        SealedBuffer bytes;
        Wire form;
        lock.lock();
        try {
            closed = true;
            bytes = payload;
            form = deflated;
            payload = null;
            deflated = null;
        } finally {
            lock.unlock();
        }
        try (plain;
                form;
                bytes) {
            // each, whatever another's release throws
        }
    }

    @Override
    public String toString() {
        return "PreparedMessage[opcode=" + opcode + " byteSize=" + byteSize + "]";
    }
}
