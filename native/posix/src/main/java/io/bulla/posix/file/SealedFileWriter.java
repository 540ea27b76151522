// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.file;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pool.device.MemoryRegistrationLookup;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.Memfd;
import io.bulla.posix.internal.stream.Patience;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Writes sealed buffers to a file, from the memory that they are in to the device: past the page cache
/// (`O_DIRECT`), by an io_uring that knows the memory, so that it is pinned once and not for each write.
///
/// ```java
/// try (SealedFileWriter file = SealedFileWriter.create(path, table, registrations::use, Duration.ofSeconds(30))) {
///     file.append(image);
///     file.flush();
/// }
/// ```
///
/// The device takes whole blocks, from aligned memory, to aligned places:
///
/// ```
/// buffers:  |      first      |   second    |                 third                  |
/// file:     | block | block | block | block | block | block | block | block | block |0000|
///           |<--- as it is -->|<---- copied: its place is not aligned ------------->|   cut off
/// ```
///
/// What does not begin so is copied first; [#align()] makes the next buffer begin at a block. The last block is
/// filled up with zeros, and the file is cut to its size afterwards: a process that ends in between leaves
/// zeros. Memory that the device does not know is written from all the same, see [#figures()].
///
/// Each call ends in the writer's patience. After an error the file is broken: what it has behind its last
/// [#flush()] is not known, and each later call says so. The kernel may then still read memory; each buffer is held
/// until it does not.
///
/// Belongs to the thread of its table. What a call makes a user's code do, a [MemoryRegistrationLookup] or a release,
/// may not call the file: it is refused.
public final class SealedFileWriter implements AutoCloseable {

    private static final int STAGING = 256 << 10;
    private static final int MOST_PER_WRITE = 1 << 30;
    private static final int MOST_AT_ONCE = 32;
    private static final int LOOKS_UP_MILLIS = 50;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final FixedBufferTable table;
    private final MemoryRegistrationLookup marks;
    private final Duration patience;
    private final DirectFile file;
    private final String name;
    // freed when neither this nor a write under way has it
    private final MemorySegment staging;
    private final ArrayDeque<FileWrite> underWay = new ArrayDeque<>(MOST_AT_ONCE);
    // all bytes that were appended; the last of them are in the staging memory
    private long size;
    private int staged;
    private boolean tailWritten = true;
    private long registered;
    private long plain;
    private long copied;
    private long shortWrites;
    private @Nullable String broken;
    private boolean closed;
    private boolean busy;

    /// @param name for messages
    SealedFileWriter(
            DirectFile file, String name, FixedBufferTable table, MemoryRegistrationLookup marks, Duration patience) {
        this.file = file;
        this.name = name;
        this.table = table;
        this.marks = marks;
        this.patience = patience.compareTo(Patience.FOR_EVER) > 0 ? Patience.FOR_EVER : patience;
        int block = file.block();
        this.staging =
                Arena.ofAuto().allocate((STAGING + block - 1) / block * block, Math.max(block, file.memoryAlignment()));
    }

    /// Makes a file.
    ///
    /// @param path of the default file system, where no file is yet
    /// @param table of the calling thread; open as long as this is
    /// @param marks finds the table's marks: `registrations::use` of the table's registrations
    /// @param patience the longest that a call takes
    /// @return an empty file
    /// @throws PosixException with `EEXIST`, `ENOENT` and the like; with `EINVAL` if the file system does not
    ///     write past its cache, as one in memory (tmpfs)
    /// @throws WrongThreadException if the table is another thread's
    /// @throws UnsupportedOperationException if the path is of another file system provider
    public static SealedFileWriter create(
            Path path, FixedBufferTable table, MemoryRegistrationLookup marks, Duration patience)
            throws PosixException {
        Objects.requireNonNull(marks, "marks");
        Objects.requireNonNull(patience, "patience");
        table.checkOwner();
        return create(path, file -> new SealedFileWriter(file, path.toString(), table, marks, patience));
    }

    /// As [#create(Path, FixedBufferTable, MemoryRegistrationLookup, Duration)]; if there is no writer, there is no
    /// file either.
    static SealedFileWriter create(Path path, Function<DirectFile, SealedFileWriter> writers) throws PosixException {
        DirectFile file = DirectFile.create(path);
        SealedFileWriter writer = null;
        try {
            writer = writers.apply(file);
            return writer;
        } finally {
            if (writer == null) {
                file.remove(path);
            }
        }
    }

    /// Writes a buffer behind what is there. When this returns the device has its whole blocks; the rest comes
    /// with the next call.
    ///
    /// @param buffer may be closed afterwards
    /// @return where in the file it begins
    /// @throws PosixException with `ENOSPC`, `EIO`, `EFBIG` and the like; `ETIMEDOUT` if the patience is over
    /// @throws InterruptedIOException if the thread is interrupted, which it stays
    /// @throws IOException if the file is broken
    /// @throws IllegalStateException if this, or the buffer, is closed
    public long append(SealedBuffer buffer) throws IOException {
        checkUsable("append");
        SealedBuffer held = buffer.share();
        long begin = size;
        long deadline = deadline();
        attempt(() -> {
            try (held) {
                IoVec bytes = held.iovec().lent();
                for (int i = 0; i < bytes.regionCount(); i++) {
                    append(held, i, bytes.region(i), deadline);
                }
                settleAll(deadline);
            }
        });
        return begin;
    }

    /// Fills the last block up with zeros, which count as bytes of the file: the next buffer begins at a block,
    /// and so is not copied if its memory is aligned.
    ///
    /// @return the size of the file
    /// @throws IOException as [#append] throws
    /// @throws IllegalStateException if this is closed
    public long align() throws IOException {
        checkUsable("align");
        int zeros = staged == 0 ? 0 : (file.block() - staged % file.block()) % file.block();
        long deadline = deadline();
        attempt(() -> {
            staging.asSlice(staged, zeros).fill((byte) 0);
            stage(zeros);
            writeStaged(deadline);
        });
        return size;
    }

    /// Writes what is left, and waits until the device says that it has everything.
    ///
    /// @throws IOException as [#append] throws
    /// @throws IllegalStateException if this is closed
    public void flush() throws IOException {
        checkUsable("flush");
        long deadline = deadline();
        attempt(() -> {
            writeTail(deadline);
            FixedBufferOperation sync = table.sync(file.descriptor());
            await(sync, deadline);
            sync.byteCount();
        });
    }

    /// Bytes that were appended, zeros of [#align()] included.
    ///
    /// @return at least 0
    public long size() {
        return size;
    }

    /// What a place in the file has to be a multiple of, for a buffer that is not copied.
    ///
    /// @return bytes
    public int blockBytes() {
        return file.block();
    }

    /// Which way the bytes went.
    ///
    /// @return a snapshot
    public FileFigures figures() {
        return new FileFigures(registered, plain, copied, shortWrites);
    }

    /// Writes what is left and closes the file. It does not wait for the device: [#flush()] does. Of a broken file
    /// it waits, in the patience, until the kernel reads no memory for it; what it still reads then is held until
    /// it does not, see [FixedBufferTable#progress]. Again does nothing.
    ///
    /// @throws IOException as [#append] throws; the file is closed all the same
    @Override
    public void close() throws IOException {
        table.checkOwner();
        if (closed) {
            return;
        }
        checkNotBusy("close");
        busy = true;
        try {
            if (broken == null) {
                long deadline = deadline();
                attempt(() -> writeTail(deadline));
            }
            awaitLeft();
        } finally {
            closed = true;
            busy = false;
            file.descriptor().close();
        }
    }

    @Override
    public String toString() {
        return "SealedFileWriter[" + name + " size=" + size + " block=" + file.block() + " " + figures()
                + (broken == null ? "" : " broken=[" + broken + "]") + "]";
    }

    private void append(SealedBuffer buffer, int index, MemorySegment region, long deadline) throws IOException {
        long at = 0;
        while (at < region.byteSize()) {
            long left = region.byteSize() - at;
            if (goesAsItIs(region, at, left)) {
                writeStaged(deadline);
                int length = (int) Math.min(left - left % file.block(), MOST_PER_WRITE - MOST_PER_WRITE % file.block());
                begin(new FileWrite(buffer, index, region.address() + at, length, size), deadline);
                size += length;
                at += length;
            } else {
                settleStaging(deadline);
                int length = (int) Math.min(left, room(region, at));
                MemorySegment.copy(region, at, staging, staged, length);
                stage(length);
                copied += length;
                at += length;
                if (staged == staging.byteSize()) {
                    writeStaged(deadline);
                }
            }
        }
    }

    /// Whether the rest of a region may be written from where it is: what is staged ends at a block, or there is
    /// nothing.
    private boolean goesAsItIs(MemorySegment region, long at, long left) {
        return staged % file.block() == 0 && left >= file.block() && isAligned(region, at);
    }

    private boolean isAligned(MemorySegment region, long at) {
        return region.isNative() && (region.address() + at) % file.memoryAlignment() == 0;
    }

    /// How much is copied before it is looked at again: to the next block, if the rest can go as it is from there.
    private long room(MemorySegment region, long at) {
        int toBlock = file.block() - staged % file.block();
        return isAligned(region, at + toBlock) ? toBlock : staging.byteSize() - staged;
    }

    private void stage(int bytes) {
        staged += bytes;
        size += bytes;
        tailWritten &= bytes == 0;
    }

    /// Writes whole blocks that were copied.
    private void writeStaged(long deadline) throws IOException {
        if (staged > 0 && staged % file.block() == 0) {
            begin(new FileWrite(null, 0, staging.address(), staged, size - staged), deadline);
            staged = 0;
            tailWritten = true;
        }
    }

    /// Writes what is staged, with zeros behind it that are cut off; it stays staged, for what comes next.
    private void writeTail(long deadline) throws IOException {
        settleStaging(deadline);
        int block = file.block();
        if (!tailWritten) {
            int whole = (staged + block - 1) / block * block;
            staging.asSlice(staged, whole - staged).fill((byte) 0);
            begin(new FileWrite(null, 0, staging.address(), whole, size - staged), deadline);
            settleAll(deadline);
            cut();
            tailWritten = true;
        }
    }

    private void cut() throws PosixException {
        int fd = file.descriptor().enter("ftruncate");
        try {
            int result = Memfd.truncate(fd, size);
            if (result < 0) {
                throw CallFailure.of("ftruncate", -result, "bytes=" + size + " path=" + name);
            }
        } finally {
            file.descriptor().leave();
        }
    }

    private void begin(FileWrite write, long deadline) throws IOException {
        if (underWay.size() == MOST_AT_ONCE) {
            settleFirst(deadline);
        }
        write.begin(table, marks, file.descriptor(), staging);
        underWay.add(write);
    }

    /// The staging memory is to be written to: the kernel no longer reads it.
    private void settleStaging(long deadline) throws IOException {
        if (underWay.stream().anyMatch(FileWrite::isStaged)) {
            settleAll(deadline);
        }
    }

    private void settleAll(long deadline) throws IOException {
        while (!underWay.isEmpty()) {
            settleFirst(deadline);
        }
    }

    private void settleFirst(long deadline) throws IOException {
        settle(underWay.getFirst(), deadline);
        underWay.removeFirst();
    }

    /// Until the kernel has taken all of it. Of a short write the whole blocks count, the rest is written again.
    private void settle(FileWrite write, long deadline) throws IOException {
        while (true) {
            await(write.transfer(), deadline);
            int taken = write.transfer().byteCount();
            int whole = taken == write.length() ? taken : taken - taken % file.block();
            if (write.isRegistered()) {
                registered += whole;
            } else if (!write.isStaged()) {
                plain += whole;
            }
            if (whole == write.length()) {
                return;
            }
            shortWrites++;
            if (whole == 0) {
                throw new PosixException(
                        "write", Errno.EIO.number(), "no whole block was taken: bytes=" + taken + " " + write);
            }
            write.skip(whole);
            write.begin(table, marks, file.descriptor(), staging);
        }
    }

    private void await(FixedBufferOperation transfer, long deadline) throws IOException {
        while (!transfer.isDone()) {
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("interrupted while the kernel writes: path=" + name + " " + transfer);
            }
            long left = (deadline - System.nanoTime() + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI;
            if (left <= 0) {
                throw new PosixException(
                        "write",
                        Errno.ETIMEDOUT.number(),
                        "waitedMs=" + patience.toMillis() + " path=" + name + " " + transfer);
            }
            table.progress((int) Math.min(left, LOOKS_UP_MILLIS));
        }
    }

    private long deadline() {
        return System.nanoTime() + TimeUnit.NANOSECONDS.convert(patience);
    }

    private interface Step {
        void run() throws IOException;
    }

    /// A step that breaks the file if it fails: what the kernel has of it is not known.
    private void attempt(Step step) throws IOException {
        boolean before = busy;
        busy = true;
        try {
            step.run();
        } catch (IOException | RuntimeException | Error failure) {
            // at once, for its words may fail on a full heap
            broken = failure.getClass().getName();
            giveUp();
            broken = failure.toString();
            throw failure;
        } finally {
            busy = before;
        }
    }

    private void giveUp() {
        try {
            table.cancelAll(file.descriptor());
        } catch (PosixException refused) {
            // what waits is held, until the table ends
        }
    }

    /// A write that was under way when the file broke; why it broke was told.
    private void awaitLeft() {
        long deadline = deadline();
        try {
            for (FileWrite left = underWay.poll(); left != null; left = underWay.poll()) {
                await(left.transfer(), deadline);
            }
        } catch (IOException notYet) {
            // held until the kernel answers
            underWay.clear();
        }
    }

    private void checkNotBusy(String call) {
        if (busy) {
            throw new IllegalStateException("file is in a call already: call=" + call + " path=" + name);
        }
    }

    private void checkUsable(String call) throws IOException {
        table.checkOwner();
        checkNotBusy(call);
        if (closed) {
            throw new IllegalStateException("file is closed: call=" + call + " path=" + name);
        }
        if (broken != null) {
            throw new IOException("file is broken: call=" + call + " path=" + name + " first=[" + broken + "]");
        }
    }
}
