package io.bulla.buffer;

import io.bulla.iovec.IoVec;
import io.bulla.refcount.Lease;
import io.bulla.refcount.RefCount;
import java.util.Arrays;

/// One holder's handle on bytes that never change again.
///
/// ```
///   handle A --+                     each handle is closed once, by its holder;
///   handle B --+--> count --> bytes  the last close gives the memory back
///   a slice  --+
/// ```
///
/// Guarantees
/// - *Immutable*: content, size and addresses are fixed from [BufferBuilder#seal()] on. There is no load, no
///   unload and no position in here, so looking at a buffer cannot disturb anybody.
/// - *Thread-safe*: any number of threads may read, share and slice one buffer at once, each through an open handle.
/// - *A handle per holder*: `close()` ends this handle; again is harmless, and no other handle is ever affected.
/// - *Use after close is an exception*: every operation on a closed handle throws [ReleasedBufferException].
/// - *No copy*: `share`, `shares`, `slice`, `concat` and `iovec` move no byte.
///
/// Views that escaped (an [IoVec], a `ByteBuffer` of it) are borrowed: they are good while some handle on the
/// buffer is open. After the memory is given back, reading them is an `IllegalStateException` of the JDK on the
/// default source.
public final class SealedBuffer extends Lease {

    private final IoVec bytes;

    SealedBuffer(RefCount count, IoVec bytes) {
        super(count);
        this.bytes = bytes;
    }

    static SealedBuffer first(RefCount count, IoVec bytes) {
        SealedBuffer buffer = new SealedBuffer(count, bytes);
        buffer.opened();
        return buffer;
    }

    /// One more handle on the same bytes, for another holder.
    ///
    /// @return a handle that its holder closes
    /// @throws ReleasedBufferException if this handle is closed
    public SealedBuffer share() {
        return shareOf(bytes);
    }

    /// `n` more handles in one atomic step, for a fan-out.
    ///
    /// @param n number of handles, at least 0
    /// @return `n` handles, each closed by its holder
    /// @throws IllegalArgumentException if `n` is negative
    /// @throws ReleasedBufferException if this handle is closed
    public SealedBuffer[] shares(int n) {
        if (n < 0) {
            throw new IllegalArgumentException("number of shares is negative: n=" + n);
        }
        SealedBuffer[] handles = new SealedBuffer[n];
        Arrays.setAll(handles, i -> new SealedBuffer(count(), bytes));
        retain(handles);
        return handles;
    }

    /// A handle on `length` bytes from `offset` on. It outlives this one, and keeps the whole buffer's memory.
    ///
    /// @param offset in bytes
    /// @param length in bytes
    /// @return a handle that its holder closes
    /// @throws IndexOutOfBoundsException if the range is not inside this buffer
    /// @throws ReleasedBufferException if this handle is closed
    public SealedBuffer slice(long offset, long length) {
        return shareOf(iovec().slice(offset, length));
    }

    /// The parts' bytes one after the other, as one buffer. It holds a share of each part.
    ///
    /// @param parts open handles, in order; they stay open and stay their holders'
    /// @return a handle that its holder closes
    /// @throws ReleasedBufferException if a part is closed; no share stays behind then
    public static SealedBuffer concat(SealedBuffer... parts) {
        SealedBuffer[] held = new SealedBuffer[parts.length];
        try {
            for (int i = 0; i < parts.length; i++) {
                held[i] = parts[i].share();
            }
            IoVec all =
                    IoVec.concat(Arrays.stream(held).map(SealedBuffer::iovec).toArray(IoVec[]::new));
            return first(new Storage(parts.length == 0 ? null : parts[0].count().trace(), () -> closeAll(held)), all);
        } catch (Throwable failure) {
            closeAll(held);
            throw failure;
        }
    }

    /// A buffer of its own with the same bytes: the copy that sharing saves. Counted in [io.bulla.iovec.CopyTally].
    ///
    /// @param source where the memory comes from
    /// @return a handle on the copy, the only one
    /// @throws ReleasedBufferException if this handle is closed
    public SealedBuffer copy(MemorySource source) {
        IoVec from = iovec();
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, Math.max(1, from.byteSize()))) {
            builder.put(from);
            return builder.seal();
        }
    }

    /// Number of bytes.
    ///
    /// @return at least 0
    /// @throws ReleasedBufferException if this handle is closed
    public long byteSize() {
        return iovec().byteSize();
    }

    /// The bytes, borrowed: good while this handle, or another one on the buffer, is open.
    ///
    /// @return the same vector each time
    /// @throws ReleasedBufferException if this handle is closed
    public IoVec iovec() {
        if (!isOpen()) {
            throw closedError();
        }
        return bytes;
    }

    @Override
    protected ReleasedBufferException closedError() {
        return new ReleasedBufferException("buffer handle already closed: byteSize=" + bytes.byteSize());
    }

    @Override
    public String toString() {
        return "SealedBuffer[byteSize=" + bytes.byteSize() + (isOpen() ? " open" : " closed") + "]";
    }

    private SealedBuffer shareOf(IoVec view) {
        SealedBuffer handle = new SealedBuffer(count(), view);
        retain(handle);
        return handle;
    }

    private static void closeAll(SealedBuffer[] handles) {
        for (SealedBuffer handle : handles) {
            if (handle != null) {
                handle.close();
            }
        }
    }
}
