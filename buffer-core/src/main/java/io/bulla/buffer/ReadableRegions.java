// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.iovec.IoVec;
import io.bulla.iovec.RecordView;
import io.bulla.iovec.internal.BigEndian;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;

/// The regions that a reader reads from, in order: where the next byte comes from, and what happens when a region, or
/// all of them, end. The mirror of [WritableRegions].
///
/// ```
///  region 0        region 1                    region 2
///  [ ............ ][ read | at .............. ][ ..... ]
///  0               base   base + at = position            memory: region 1, or its part before the limit
/// ```
///
/// The reader's gets use these fields in place, since a field of another object would cost a load per get. Their test
/// is the very one that the segment makes of its own bounds, so that the compiler leaves that one out: one compare
/// tells that the value lies in this region and before the limit.
///
/// Over memory that may be reused, a reader has no region of its own: `memory` stays empty, so that every get
/// comes to the slow path here, which reads through the vector, whose reads look at the stamp when they are over.
/// Then `at` is 0 and `base` the position. Other memory pays nothing for it.
abstract sealed class ReadableRegions permits BufferReader {

    /// Values that a run behind a stamp reads with one look at it. Such a run may be gathered in an array first.
    private static final int LONGEST_LOOK = 8192;

    /// A part of a run of values.
    private interface Run {
        void read(RecordView part, int done, int count);
    }

    final SealedBuffer buffer;
    /// Offset in the buffer of this reader's position 0.
    final long start;

    MemorySegment memory = MemorySegment.NULL;
    long at;
    private final IoVec bytes;
    private final boolean stamped;
    // nothing guards the bytes
    private final boolean bare;
    private long limit;
    private long base;
    private int region;

    ReadableRegions(SealedBuffer buffer, long start, IoVec bytes) {
        this.buffer = buffer;
        this.start = start;
        this.bytes = bytes;
        this.limit = bytes.byteSize();
        this.stamped = bytes.isStamped();
        this.bare = !stamped && bytes.lent() == bytes;
        enter(0);
    }

    final long here() {
        return base + at;
    }

    final long end() {
        return limit;
    }

    final void end(long wanted) {
        if (wanted < here() || wanted > bytes.byteSize()) {
            throw new IllegalArgumentException("limit outside of what is left: limit=" + wanted + " position=" + here()
                    + " byteSize=" + bytes.byteSize());
        }
        MemorySegment shown = bytes.regionCount() == 0 || stamped ? memory : shown(bytes.region(region), wanted - base);
        limit = wanted;
        memory = shown;
    }

    final void goTo(long position) {
        if (position < 0 || position > limit) {
            throw new IllegalArgumentException("position past the limit: position=" + position + " limit=" + limit);
        }
        if (position < base || position > base + memory.byteSize()) {
            checkOpen();
            if (stamped) {
                base = position;
                return;
            }
            enter(bytes.regionAt(Math.min(position, bytes.byteSize() - 1)));
        }
        at = position - base;
    }

    /// The next bytes, of which all are there.
    final IoVec next(long length) {
        need(length);
        return bytes.slice(here(), length);
    }

    /// A view of the next bytes, of which all are there.
    final RecordView nextRecord(int length) {
        need(length);
        RecordView view;
        if (bare && length <= memory.byteSize() - at) {
            view = RecordView.of(memory.asSlice(at, length));
            at += length;
        } else {
            view = bytes.record(here(), length);
            if (stamped) {
                base += length;
            } else {
                goTo(here() + length);
            }
        }
        return view;
    }

    /// The next values, of which all are there.
    final void readShorts(short[] target, int from, int count) {
        if (stamped) {
            runOfStamped(count, Short.BYTES, (part, done, now) -> part.getShorts(0, target, from + done, now));
            return;
        }
        for (int done = 0; done < count; ) {
            int now = (int) Math.min(count - done, (memory.byteSize() - at) / Short.BYTES);
            BigEndian.get(memory, at, target, from + done, now);
            at += (long) now * Short.BYTES;
            done += now;
            if (done < count) {
                // across a border
                target[from + done++] = (short) gathered(Short.BYTES);
            }
        }
        Reference.reachabilityFence(this);
    }

    /// The next values, of which all are there.
    final void readInts(int[] target, int from, int count) {
        if (stamped) {
            runOfStamped(count, Integer.BYTES, (part, done, now) -> part.getInts(0, target, from + done, now));
            return;
        }
        for (int done = 0; done < count; ) {
            int now = (int) Math.min(count - done, (memory.byteSize() - at) / Integer.BYTES);
            BigEndian.get(memory, at, target, from + done, now);
            at += (long) now * Integer.BYTES;
            done += now;
            if (done < count) {
                // across a border
                target[from + done++] = (int) gathered(Integer.BYTES);
            }
        }
        Reference.reachabilityFence(this);
    }

    /// The next values, of which all are there.
    final void readLongs(long[] target, int from, int count) {
        if (stamped) {
            runOfStamped(count, Long.BYTES, (part, done, now) -> part.getLongs(0, target, from + done, now));
            return;
        }
        for (int done = 0; done < count; ) {
            int now = (int) Math.min(count - done, (memory.byteSize() - at) / Long.BYTES);
            BigEndian.get(memory, at, target, from + done, now);
            at += (long) now * Long.BYTES;
            done += now;
            if (done < count) {
                // across a border
                target[from + done++] = gathered(Long.BYTES);
            }
        }
        Reference.reachabilityFence(this);
    }

    /// The next values behind a stamp, of which all are there; the position stays if a part of them fails.
    private void runOfStamped(int count, int width, Run run) {
        for (int done = 0; done < count; ) {
            int now = Math.min(count - done, LONGEST_LOOK);
            run.read(bytes.record(base + (long) done * width, now * width), done, now);
            done += now;
        }
        base += (long) count * width;
        Reference.reachabilityFence(this);
    }

    /// Copies the next bytes; counted.
    final void copyNext(MemorySegment target) {
        need(target.byteSize());
        bytes.copyTo(here(), target, target.byteSize());
        goTo(here() + target.byteSize());
    }

    /// The next bytes, to be made something else of, without a move: what is made of them may fail. Not counted, as
    /// no get of a value is.
    final byte[] ahead(long length) {
        need(length);
        byte[] ahead = new byte[SealedBuffer.arraySize(length)];
        if (stamped) {
            copyStamped(ahead);
            return ahead;
        }
        MemorySegment from = memory;
        long start = at;
        for (int done = 0, next = region + 1; done < ahead.length; next++) {
            int now = (int) Math.min(ahead.length - done, from.byteSize() - start);
            MemorySegment.copy(from, ValueLayout.JAVA_BYTE, start, ahead, done, now);
            done += now;
            if (done < ahead.length) {
                from = bytes.region(next);
                start = 0;
            }
        }
        Reference.reachabilityFence(this);
        return ahead;
    }

    /// The next bytes as a number, the first one highest: for a get that its region alone cannot serve.
    final long gathered(int width) {
        need(width);
        if (stamped) {
            return nextStamped(width);
        }
        MemorySegment from = memory;
        int index = region;
        long next = at;
        long value = 0;
        for (int left = width; left > 0; left--) {
            while (next == from.byteSize()) {
                from = bytes.region(++index);
                next = 0;
            }
            value = value << Byte.SIZE | from.get(ValueLayout.JAVA_BYTE, next++) & 0xff;
        }
        if (index != region) {
            enter(index);
        }
        at = next;
        Reference.reachabilityFence(this);
        return value;
    }

    final void need(long length) {
        checkOpen();
        if (length < 0 || length > limit - here()) {
            throw new IndexOutOfBoundsException(
                    "read past the limit: position=" + here() + " length=" + length + " limit=" + limit);
        }
    }

    final void checkOpen() {
        if (!buffer.isReadable()) {
            throw buffer.closedError();
        }
    }

    private long nextStamped(int width) {
        long value = switch (width) {
            case Byte.BYTES -> bytes.getByte(base);
            case Short.BYTES -> bytes.getShort(base);
            case Integer.BYTES -> bytes.getInt(base);
            default -> bytes.getLong(base);
        };
        base += width;
        Reference.reachabilityFence(this);
        return value;
    }

    private void copyStamped(byte[] raw) {
        IoVec regions = bytes.lent();
        for (int done = 0; done < raw.length; ) {
            int index = regions.regionAt(base + done);
            long from = base + done - regions.regionStart(index);
            int now = (int) Math.min(raw.length - done, regions.region(index).byteSize() - from);
            MemorySegment.copy(regions.region(index), ValueLayout.JAVA_BYTE, from, raw, done, now);
            done += now;
        }
        bytes.verify();
        Reference.reachabilityFence(this);
    }

    private static MemorySegment shown(MemorySegment region, long end) {
        return end < region.byteSize() ? region.asSlice(0, Math.max(0, end)) : region;
    }

    private void enter(int index) {
        if (index < bytes.regionCount() && !stamped) {
            long start = bytes.regionStart(index);
            // first what may fail
            memory = shown(bytes.region(index), limit - start);
            base = start;
            region = index;
            at = 0;
        }
    }
}
