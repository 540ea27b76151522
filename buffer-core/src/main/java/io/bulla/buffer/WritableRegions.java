// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.internal.Failures;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The regions that a builder writes to, in order: where the next byte goes, and what happens when there is no
/// room for it.
///
/// ```
///  earlier                             region
///  [ used ....... ][ used ... |      ][ used .... |  capacity ]
///  0               before of the 2nd  before       before + used = bytes written
/// ```
///
/// The builder's puts use these fields in place, since a field of another object would cost a load per put. Their
/// test for room is the very one that the segment makes of its own bounds, so that the compiler leaves that one out:
/// one compare tells that there is room, and that the builder still writes, for a builder that ended stands past the
/// end of its memory.
///
/// A step that takes or gives back memory first allocates what it needs and calls the source, then changes the
/// fields, in steps that cannot fail: after an exception the builder is as before. Only a seal that fails ends the
/// builder, and gives its memory back, for what the source did by then cannot be undone.
///
/// A source may call back. While it is asked for memory the builder may be sealed or closed: what the source gives
/// then goes back to it, and the write that asked is refused. What else would change the regions is refused at once.
abstract sealed class WritableRegions permits BufferBuilder {

    static final long FIRST = 256;

    private static final long NO_ROOM = 1L << 62;
    // the capacity within a call of the source: no record finds room, for the memory may move beneath it
    private static final long HIDDEN = -1;
    private static final long GROWTH = 4;
    private static final long LARGEST = 1 << 20;

    static {
        // what stands between a region that was taken and its place in a field
        Failures.load();
        Part.load();
        Part.count(null);
        Objects.requireNonNull(SourceContract.ANY_THREAD);
    }

    // what became of the builder: a number, since a reference that changed would cost the collector's barrier, whose
    // code would make the seal too large to be inlined
    private static final int WRITING = 0;
    private static final int SEALED = 1;
    private static final int ABANDONED = 2;
    private static final int FAILED = 3;
    private static final String[] ENDS = {"", "sealed", "abandoned", "given back by a seal that failed"};

    private final MemorySource source;
    private int state = WRITING;
    private long nextCapacity;
    // the region that is written to: its memory, its bytes used, its size, and how many bytes stand before it; a
    // region without a capacity grew, and has not said yet where its memory is now
    private @Nullable Region region;
    MemorySegment memory = MemorySegment.NULL;
    long used;
    long capacity;
    private long before;
    // those before it, null while there is none
    private @Nullable Part earlier;
    private long endedWith;
    // the source has been asked for memory and has not answered yet
    private boolean asking;
    // one more with each record that is opened and each that ends: odd while one is open, whose number it is; and its
    // size. While one is open, and once the builder is over, `used` is larger by NO_ROOM, so that no put finds room: a
    // reference that changed would cost the collector's barrier
    private long recordStep;
    private int recordBytes;

    WritableRegions(MemorySource source, long firstCapacity) {
        this.source = Objects.requireNonNull(source, "source");
        this.nextCapacity = firstCapacity;
    }

    final long written() {
        return before + (hasOpenRecord() ? used - NO_ROOM : used);
    }

    final String regions() {
        return state == WRITING
                ? "byteSize=" + written() + " regions=" + (Part.count(earlier) + (region == null ? 0 : 1)) + " room="
                        + Math.max(0, capacity - used)
                : ENDS[state] + " byteSize=" + endedWith;
    }

    /// Looks at the range of a run of values, and at the builder for one of none, which asks for no room.
    final void checkRun(int from, int count, int length) {
        Objects.checkFromIndexSize(from, count, length);
        if (count == 0) {
            checkWriting();
        }
    }

    /// Room for at least one of `count` values, none of which straddles two regions; says for how many.
    final int roomFor(int count, int width) {
        if (capacity - used < width) {
            nextCapacity = Math.max(nextCapacity, Math.min((long) count * width, LARGEST));
            ensureRoom(width);
        }
        return (int) Math.min(count, (capacity - used) / width);
    }

    /// Reserves the next bytes for a record, in one region. They count as written.
    final RecordWriter openRecord(BufferBuilder builder, int byteSize) {
        ensureRoom(byteSize);
        long number = recordStep + 1;
        RecordWriter fresh = new RecordWriter(builder, memory.asSlice(used, byteSize), number);
        // nothing below can fail
        recordStep = number;
        recordBytes = byteSize;
        used += byteSize + NO_ROOM;
        return fresh;
    }

    private boolean hasOpenRecord() {
        return (recordStep & 1) != 0;
    }

    final boolean isOpenRecord(long number) {
        return recordStep == number;
    }

    final void endRecord() {
        recordStep++;
        used -= NO_ROOM;
    }

    final void ensureRoom(int bytes) {
        if (capacity - used < bytes) {
            checkWriting();
            grow(bytes);
        }
    }

    interface Step {
        void copy(long done, MemorySegment target, long at, long length);
    }

    /// Writes a run of bytes, region after region; if a step fails, nothing of it stays.
    final void fill(long length, Step step) {
        checkWriting();
        long start = written();
        try {
            for (long done = 0; done < length; ) {
                if (used == capacity) {
                    nextCapacity = Math.max(nextCapacity, Math.min(length - done, LARGEST));
                }
                ensureRoom(1);
                long now = Math.min(length - done, capacity - used);
                step.copy(done, memory, used, now);
                used += now;
                done += now;
            }
        } catch (Throwable failure) {
            dropAfter(start, failure);
            throw failure;
        }
    }

    /// As [#dropAfter(long)], after a failure that the caller throws, whatever else happens.
    final void dropAfter(long byteSize, Throwable failure) {
        try {
            dropAfter(byteSize);
        } catch (Throwable another) {
            Failures.join(failure, another);
        }
    }

    final void dropAfter(long byteSize) {
        if (hasOpenRecord() && byteSize >= 0 && byteSize <= written() - recordBytes) {
            endRecord();
        }
        checkWriting();
        if (byteSize < 0 || byteSize > written()) {
            throw new IllegalArgumentException("truncate past the end: wanted=" + byteSize + " byteSize=" + written());
        }
        @Nullable Throwable failure = null;
        while (region != null && byteSize < before) {
            failure = dropLast(region, failure);
        }
        // a region that was given back may have called back: what was dropped by then stays dropped
        if (state != WRITING) {
            failure = failure == null ? alreadyOver() : failure;
        } else if (byteSize < written()) {
            used = byteSize - before;
        }
        Failures.rethrow(failure);
    }

    /// The memory of what was written, from `offset` to the end of the region that it lies in: for a sink that
    /// changes what it wrote. Not to be kept across a write.
    final MemorySegment writtenFrom(long offset) {
        IoVec.checkRange("written", offset, 1, checkedSize());
        reopen();
        if (offset >= before) {
            return memory.asSlice(offset - before, used - (offset - before));
        }
        long end = before;
        for (Part part = earlier; part != null; part = part.previous()) {
            if (part.start() <= offset) {
                return part.memory().asSlice(offset - part.start(), end - offset);
            }
            end = part.start();
        }
        throw new AssertionError("no part holds the offset: offset=" + offset + " before=" + before);
    }

    /// Bytes written to a builder that still writes.
    final long checkedSize() {
        checkWriting();
        return written();
    }

    /// Ends the writing. The caller publishes what it returns, and announces it.
    final SealedBuffer sealed() {
        // a region without a byte would stay taken as long as the buffer
        while (region != null && used == 0) {
            Failures.rethrow(dropLast(region, null));
        }
        reopen();
        // a builder that is over had no region above; and a region may have called back
        checkWriting();
        Region last = region;
        MemorySegment written = memory;
        long length = used;
        long size = written();
        Part parts = last == null || earlier == null ? null : new Part(last, written, before, earlier);
        // from here on no byte is written, whatever the source and the listener do
        end(SEALED);
        try {
            return last != null && parts == null
                    ? Sealing.one(source, last, written, length)
                    : Sealing.many(source, parts, size);
        } catch (Throwable failure) {
            state = FAILED;
            Part.release(parts, last != null && parts == null ? Part.release(last, failure) : failure);
            throw failure;
        }
    }

    /// Makes the first handle known, or gives the memory back.
    final void announce(SealedBuffer buffer, @Nullable Object tag) {
        try {
            buffer.announce(tag);
        } catch (Throwable failure) {
            state = FAILED;
            throw failure;
        }
    }

    final void abandon() {
        memory = MemorySegment.NULL;
        if (state == WRITING) {
            Region last = region;
            Part others = earlier;
            end(ABANDONED);
            Failures.rethrow(Part.release(others, last == null ? null : Part.release(last, null)));
        }
    }

    final void checkWriting() {
        if (state != WRITING || hasOpenRecord()) {
            throw alreadyOver();
        }
    }

    private IllegalStateException alreadyOver() {
        if (hasOpenRecord()) {
            return new IllegalStateException(
                    "builder has an open record: record=" + recordBytes + " byteSize=" + written());
        }
        return new IllegalStateException("builder already " + ENDS[state] + ": byteSize=" + endedWith);
    }

    /// A source that was asked for memory calls back.
    final void checkNotAsking() {
        if (asking) {
            throw new IllegalStateException("builder is asking its source for memory already: byteSize=" + written());
        }
    }

    /// Unless the call has ended the builder, or gone back to the region before.
    private void showRoom(long room) {
        capacity = capacity == HIDDEN ? room : capacity;
    }

    private void grow(int bytes) {
        checkNotAsking();
        asking = true;
        try {
            reopen();
            if (capacity - used < bytes && (region == null || !growRegion(region, bytes))) {
                takeRegion(bytes);
            }
        } finally {
            asking = false;
        }
    }

    private boolean growRegion(Region last, int bytes) {
        long wanted = Math.max(used + bytes, Math.min(nextCapacity, capacity + LARGEST));
        long room = capacity;
        capacity = HIDDEN;
        @Nullable Region grown;
        try {
            grown = source.grow(last, wanted);
        } finally {
            showRoom(room);
        }
        if (state != WRITING) {
            // the old region went to the seal or the close
            throw overMeanwhile(grown == last ? null : grown);
        }
        if (grown == null) {
            return false;
        }
        // the old memory may be gone: until the region has said where it is now, there is no room
        region = grown;
        memory = MemorySegment.NULL;
        capacity = 0;
        show(memoryOf(grown, used + bytes));
        return true;
    }

    /// Asks a region again that failed to say where its memory is, after it had grown.
    private void reopen() {
        Region asked = region;
        if (capacity == 0 && asked != null) {
            MemorySegment opened = memoryOf(asked, Math.max(1, used));
            if (region == asked && capacity == 0) {
                show(opened);
            }
        }
    }

    /// The memory of a region of this builder, which the region may have sealed or closed meanwhile.
    private MemorySegment memoryOf(Region asked, long wanted) {
        MemorySegment opened;
        try {
            opened = SourceContract.memory(source, asked, wanted);
        } catch (IllegalStateException wrong) {
            // memory that a seal has cut is as it should be
            checkWriting();
            throw wrong;
        }
        checkWriting();
        return opened;
    }

    /// The error for a write whose source ended the builder before it gave the memory, which goes back.
    private IllegalStateException overMeanwhile(@Nullable Region fresh) {
        IllegalStateException over = alreadyOver();
        if (fresh != null) {
            Part.release(fresh, over);
        }
        return over;
    }

    /// Takes a region for at least so many bytes, behind the one before.
    final void takeRegion(int bytes) {
        Part behind = region == null ? null : new Part(region, memory, before, earlier);
        long wanted = Math.max(nextCapacity, bytes);
        Region fresh;
        MemorySegment opened;
        long room = capacity;
        capacity = HIDDEN;
        try {
            fresh = source.allocate(wanted);
            opened = opened(fresh, bytes, behind);
        } finally {
            showRoom(room);
        }
        if (state != WRITING) {
            throw overMeanwhile(fresh);
        }
        // nothing below can fail
        earlier = behind;
        before += used;
        used = 0;
        region = fresh;
        show(opened);
    }

    private MemorySegment opened(@Nullable Region fresh, int bytes, @Nullable Part behind) {
        if (fresh == null) {
            throw SourceContract.wrong(source, "no region", "wanted=" + bytes);
        }
        if (Part.holds(behind, fresh)) {
            throw SourceContract.wrong(source, "a region twice", "wanted=" + bytes);
        }
        MemorySegment opened;
        try {
            opened = SourceContract.memory(source, fresh, bytes);
        } catch (Throwable failure) {
            Part.release(fresh, failure);
            throw failure;
        }
        if (Part.overlaps(behind, opened)) {
            throw SourceContract.wrong(source, "memory twice", "wanted=" + bytes);
        }
        return opened;
    }

    private void show(MemorySegment now) {
        memory = now;
        capacity = now.byteSize();
        nextCapacity = Math.min(LARGEST, Math.max(FIRST, capacity) * GROWTH);
    }

    /// Returns to the region before the last one, if there is one, then gives the last one back.
    private @Nullable Throwable dropLast(Region dropped, @Nullable Throwable failure) {
        Part last = earlier;
        if (last == null) {
            region = null;
            memory = MemorySegment.NULL;
            capacity = 0;
            used = 0;
        } else {
            used = before - last.start();
            before = last.start();
            region = last.region();
            earlier = last.previous();
            show(last.memory());
        }
        return Part.release(dropped, failure);
    }

    /// Without room, nothing is written any more. What the fields refer to else goes with the builder, or its close.
    private void end(int ended) {
        endedWith = written();
        state = ended;
        region = null;
        if (earlier != null) {
            earlier = null;
        }
        used = NO_ROOM;
        capacity = 0;
        before = -NO_ROOM;
        recordStep += recordStep & 1;
    }
}
