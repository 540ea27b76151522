// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.iovec.Generation;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import io.bulla.refcount.internal.Failures;
import io.bulla.refcount.internal.TagText;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A handle on immutable bytes, for one holder.
///
/// ```java
/// import io.bulla.buffer.*;
///
/// void main() throws InterruptedException {
///     try (ArenaSource memory = ArenaSource.create();
///             BufferBuilder builder = BufferBuilder.create(memory);
///             SealedBuffer message = builder.putLong(42).seal()) {
///         SealedBuffer forReader = message.share(); // no copy; a handle of its own
///         Thread reader = Thread.ofVirtual().start(() -> {
///             try (forReader) {
///                 IO.println(BufferReader.of(forReader).getLong());
///             }
///         });
///         reader.join();
///         IO.println("handles open: " + message.holders());
///     } // the last close gives the memory back
/// }
/// ```
///
/// ```text
/// 42
/// handles open: 1
/// ```
///
/// ```
///   handle A --+                     each handle is closed once, by its holder;
///   handle B --+--> count --> bytes  the last close gives the memory back
///   a slice  --+
/// ```
///
/// Guarantees
/// - *Immutable*: content, size and addresses are fixed from [BufferBuilder#seal()] on. A buffer has no position and
///   no other state, so a reader cannot disturb another one.
/// - *Thread-safe*: any number of threads may read, share and slice one buffer at once, each through an open
///   handle.
/// - *A handle per holder*: `close()` ends this handle only; a second close does nothing.
/// - *Use after close is an exception*: every operation on a closed handle throws [ReleasedBufferException].
/// - *No copy*: `share`, `shares`, `slice`, `concat`, `move` and `iovec` move no byte.
/// - *Lock-free*: no thread waits for another to share, close or read; a thread suspended anywhere in them blocks no
///   other.
///
/// Heap, with default headers: a share is one object of 24 bytes; a tag adds 24. A buffer that many threads share
/// and close at once has 680 bytes more, on up to four processors, until it is quiet (see [RefCount]).
///
/// Views (an [IoVec], its `ByteBuffer`s) are borrowed: they are valid while any handle on the buffer is open. On
/// the default source, a read after the memory was given back is an `IllegalStateException` of the JDK. A ledger
/// may heal a forgotten handle ([io.bulla.refcount.LeaseLedger]). An `IoVec` keeps its handle reachable, and so
/// prevents that; a bare `ByteBuffer` or `MemorySegment` does not, and is valid only until the handle is closed or
/// collected.
public final class SealedBuffer extends Lease {

    // what every JVM can make
    private static final int LARGEST_ARRAY = Integer.MAX_VALUE - 8;

    private final IoVec bytes;

    /// Not announced yet.
    SealedBuffer(RefCount count, IoVec bytes) {
        super(count);
        this.bytes = bytes;
    }

    /// Adopts memory that was allocated elsewhere. It must not be written to any more.
    ///
    /// @param memory accessible by any thread; it is not copied
    /// @param onRelease called once, by the thread that closes the last handle, or by this call if it fails; it
    ///     must neither block nor throw
    /// @return the first handle
    /// @throws IllegalArgumentException if only some threads may access the memory, or it is freed already;
    ///     `onRelease` was called
    /// @throws NullPointerException if an argument is `null`; `onRelease`, if given, was called
    public static SealedBuffer adopt(MemorySegment memory, Runnable onRelease) {
        return adopt(memory, null, onRelease);
    }

    /// Adopts memory that its owner writes again afterwards. It must not be written to before.
    ///
    /// @param memory accessible by any thread; it is not copied
    /// @param stamp looked at after each read of the bytes; `onRelease` ends it, and learns from that whether a
    ///     view is left that does not look. `null` for memory that is not used again
    /// @param onRelease called once, by the thread that closes the last handle, or by this call if it fails; it
    ///     must neither block nor throw
    /// @return the first handle
    /// @throws IllegalArgumentException if only some threads may access the memory, or it is freed already;
    ///     `onRelease` was called
    /// @throws NullPointerException if `memory` or `onRelease` is `null`; `onRelease`, if given, was called
    public static SealedBuffer adopt(MemorySegment memory, @Nullable Generation stamp, Runnable onRelease) {
        Objects.requireNonNull(onRelease, "onRelease");
        SealedBuffer buffer;
        try {
            Objects.requireNonNull(memory, "memory");
            if (!memory.isAccessibleBy(SourceContract.ANY_THREAD)) {
                throw new IllegalArgumentException("memory is confined to one thread: byteSize=" + memory.byteSize());
            }
            if (!memory.scope().isAlive()) {
                throw new IllegalArgumentException("memory is freed already: byteSize=" + memory.byteSize());
            }
            IoVec bytes = IoVec.of(memory);
            buffer = new SealedBuffer(
                    new Storage.Foreign(memory.byteSize(), onRelease), stamp == null ? bytes : bytes.stamped(stamp));
            MemoryBudget.own(memory.byteSize());
        } catch (Throwable failure) {
            releaseAfter(failure, onRelease);
            throw failure;
        }
        // release: publishes what the caller wrote to the memory, as in BufferBuilder.seal
        VarHandle.releaseFence();
        return buffer;
    }

    private static void releaseAfter(Throwable failure, Runnable onRelease) {
        try {
            onRelease.run();
        } catch (Throwable another) {
            Failures.join(failure, another);
        }
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
            @Nullable
            LeaseTrace trace = parts.length == 0 ? null : parts[0].count().trace();
            SealedBuffer whole = new SealedBuffer(new Storage.Joined(trace, held), all);
            whole.announce(null);
            return whole;
        } catch (Throwable failure) {
            Storage.closeAll(held, failure);
            throw failure;
        }
    }

    /// One more handle on the same bytes, for another holder.
    ///
    /// @return a handle that its holder closes
    /// @throws ReleasedBufferException if this handle is closed
    public SealedBuffer share() {
        return share(null);
    }

    /// One more handle on the same bytes, which says who holds it.
    ///
    /// @param tag for reports, such as the name of a peer; or `null`
    /// @return a handle that its holder closes
    /// @throws ReleasedBufferException if this handle is closed
    public SealedBuffer share(@Nullable Object tag) {
        return shareOf(bytes, tag);
    }

    /// `n` more handles in one atomic step, for a fan-out.
    ///
    /// @param n number of handles, at least 0
    /// @return `n` handles, each closed by its holder
    /// @throws IllegalArgumentException if `n` is negative
    /// @throws ReleasedBufferException if this handle is closed
    public SealedBuffer[] shares(int n) {
        return shares(n, null);
    }

    /// `n` more handles, as [#shares(int)], which say who holds them.
    ///
    /// @param n number of handles, at least 0
    /// @param tag for reports; or `null`
    /// @return `n` handles, each closed by its holder
    /// @throws IllegalArgumentException if `n` is negative
    /// @throws ReleasedBufferException if this handle is closed
    public SealedBuffer[] shares(int n, @Nullable Object tag) {
        if (n < 0) {
            throw new IllegalArgumentException("number of shares is negative: n=" + n);
        }
        SealedBuffer[] handles = new SealedBuffer[n];
        for (int i = 0; i < n; i++) {
            handles[i] = new SealedBuffer(count(), bytes);
        }
        retain(tag, handles);
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
        checkOpen();
        return shareOf(bytes.slice(offset, length), null);
    }

    /// A new handle that takes this one's place: this one is closed, the claim goes on. For a hand-over to
    /// another owner, who need not trust the old one not to close it.
    ///
    /// @return a handle that its holder closes
    /// @throws ReleasedBufferException if this handle is closed
    public SealedBuffer move() {
        return move(null);
    }

    /// A new handle that takes this one's place, as [#move()], and says who holds it.
    ///
    /// @param tag for reports; or `null`
    /// @return a handle that its holder closes
    /// @throws ReleasedBufferException if this handle is closed
    public SealedBuffer move(@Nullable Object tag) {
        SealedBuffer successor = new SealedBuffer(count(), bytes);
        moveTo(tag, successor);
        return successor;
    }

    /// A handle on the same bytes that does not keep much else alive: a copy if this one's bytes are less than
    /// `minUse` of what it pins, a share otherwise. For a small slice that outlives a large buffer.
    ///
    /// @param source where the memory of a copy comes from
    /// @param minUse from 0, always share, to 1, copy unless all of it is used
    /// @return a handle that its holder closes; this one stays open
    /// @throws IllegalArgumentException if `minUse` is outside
    /// @throws ReleasedBufferException if this handle is closed
    public SealedBuffer compact(MemorySource source, double minUse) {
        if (!(minUse >= 0 && minUse <= 1)) {
            throw new IllegalArgumentException("share of the memory to be used: minUse=" + minUse);
        }
        return byteSize() < minUse * pinnedBytes() ? copy(source) : share();
    }

    /// A buffer of its own with the same bytes: the copy that sharing saves. Counted in
    /// [io.bulla.iovec.CopyTally].
    ///
    /// @param source where the memory comes from
    /// @return a handle on the copy, the only one
    /// @throws ReleasedBufferException if this handle is closed
    public SealedBuffer copy(MemorySource source) {
        IoVec from = iovec();
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, Math.max(1, from.byteSize()))) {
            builder.put(from);
            return builder.seal();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /// Number of bytes.
    ///
    /// @return at least 0
    /// @throws ReleasedBufferException if this handle is closed
    public long byteSize() {
        checkOpen();
        return bytes.byteSize();
    }

    /// Bytes of memory that stay taken while this handle is open: the regions of the whole buffer, of which it
    /// may be a slice. A region carved from a chunk keeps the chunk besides (see [ArenaSource]).
    ///
    /// @return at least 0
    /// @throws ReleasedBufferException if this handle is closed
    public long pinnedBytes() {
        checkOpen();
        return pinned();
    }

    /// The bytes, borrowed: good while this handle, or another one on the buffer, is open.
    ///
    /// @return a vector; if this handle may be healed, one that keeps it reachable
    /// @throws ReleasedBufferException if this handle is closed
    public IoVec iovec() {
        return isOpenAndPlain() ? bytes : keptIovec();
    }

    /// The bytes in an array: a copy. Counted in [io.bulla.iovec.CopyTally].
    ///
    /// @return an array of its own
    /// @throws IllegalArgumentException if they are more than an array holds
    /// @throws ReleasedBufferException if this handle is closed
    public byte[] toByteArray() {
        IoVec from = iovec();
        byte[] copy = new byte[arraySize(from.byteSize())];
        from.copyTo(0, MemorySegment.ofArray(copy), copy.length);
        Reference.reachabilityFence(this);
        return copy;
    }

    /// The bytes as text: a copy. Bytes that are none in the charset become its replacement.
    ///
    /// @param charset how characters were written
    /// @return all bytes, decoded
    /// @throws IllegalArgumentException if they are more than an array holds
    /// @throws ReleasedBufferException if this handle is closed
    public String toString(Charset charset) {
        Objects.requireNonNull(charset, "charset");
        return new String(toByteArray(), charset);
    }

    /// The bytes as `xxd` shows them, for people, as [IoVec#hexDump()].
    ///
    /// @return a line for each sixteen bytes
    /// @throws ReleasedBufferException if this handle is closed
    public String hexDump() {
        String dump = iovec().hexDump();
        Reference.reachabilityFence(this);
        return dump;
    }

    /// Tells whether both hold the same bytes, however either is cut into regions. Handles themselves are equal only
    /// to themselves, since each is closed by its own holder.
    ///
    /// @param other an open handle
    /// @return whether size and bytes are the same
    /// @throws ReleasedBufferException if one of the handles is closed
    public boolean contentEquals(SealedBuffer other) {
        return byteSize() == other.byteSize() && mismatch(other) < 0;
    }

    /// The offset of the first byte that differs.
    ///
    /// @param other an open handle
    /// @return -1 if both hold the same bytes; the smaller size if one is a prefix of the other
    /// @throws ReleasedBufferException if one of the handles is closed
    public long mismatch(SealedBuffer other) {
        long at = iovec().mismatch(other.iovec());
        Reference.reachabilityFence(this);
        Reference.reachabilityFence(other);
        return at;
    }

    /// Compares byte by byte, unsigned; of two of which one is a prefix of the other, the shorter one comes first.
    ///
    /// @param other an open handle
    /// @return negative, zero or positive, as this buffer comes before, with or after `other`
    /// @throws ReleasedBufferException if one of the handles is closed
    public int compareContent(SealedBuffer other) {
        int order = iovec().compareContent(other.iovec());
        Reference.reachabilityFence(this);
        Reference.reachabilityFence(other);
        return order;
    }

    /// The offset of the first place where `wanted` lies.
    ///
    /// @param wanted one byte or a run of them; an empty run lies everywhere
    /// @return at least 0; -1 if there is no such place
    /// @throws ReleasedBufferException if this handle is closed
    public long indexOf(byte... wanted) {
        return indexOf(0, wanted);
    }

    /// The offset of the first place from an offset on where `wanted` lies.
    ///
    /// @param from where to begin, in bytes
    /// @param wanted one byte or a run of them; an empty run lies everywhere
    /// @return `from` or more; -1 if there is no such place
    /// @throws IndexOutOfBoundsException if `from` is not inside this buffer or at its end
    /// @throws ReleasedBufferException if this handle is closed
    public long indexOf(long from, byte... wanted) {
        long at = iovec().indexOf(from, wanted);
        Reference.reachabilityFence(this);
        return at;
    }

    @Override
    protected ReleasedBufferException closedError() {
        @Nullable LeaseTrace trace = count().trace();
        @Nullable Object tag = lastTag();
        return new ReleasedBufferException(
                "buffer handle already closed: byteSize=" + bytes.byteSize() + text(tag),
                trace == null ? null : trace.closedBy(this));
    }

    @Override
    public String toString() {
        @Nullable Object tag = lastTag();
        return "SealedBuffer[byteSize=" + bytes.byteSize() + (isOpen() ? " open" : " closed") + text(tag) + "]";
    }

    private static String text(@Nullable Object tag) {
        return tag == null ? "" : " tag=" + TagText.of(tag);
    }

    /// As [#isOpen()], by one compare in the usual case.
    boolean isReadable() {
        return isOpenAndPlain() || isOpen();
    }

    long pinned() {
        return ((Storage) count()).size();
    }

    /// Makes the first handle known. If its listener throws, no handle will ever be open: then everything is given
    /// back.
    void announce(@Nullable Object tag) {
        try {
            opened(tag);
        } catch (Throwable failure) {
            freeAfter(failure);
            throw failure;
        }
    }

    private void freeAfter(Throwable failure) {
        try {
            ((Storage) count()).free();
        } catch (Throwable another) {
            Failures.join(failure, another);
        }
    }

    static int arraySize(long byteSize) {
        if (byteSize > LARGEST_ARRAY) {
            throw new IllegalArgumentException(
                    "more bytes than an array holds: byteSize=" + byteSize + " limit=" + LARGEST_ARRAY);
        }
        return (int) byteSize;
    }

    private SealedBuffer shareOf(IoVec view, @Nullable Object tag) {
        SealedBuffer handle = new SealedBuffer(count(), view);
        retain(tag, handle);
        return handle;
    }

    private IoVec keptIovec() {
        checkOpen();
        return isTraced() ? bytes.keeping(this) : bytes;
    }

    private void checkOpen() {
        if (!isReadable()) {
            throw closedError();
        }
    }
}
