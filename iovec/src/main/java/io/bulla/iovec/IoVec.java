// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import io.bulla.iovec.internal.BigEndian;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An immutable, ordered list of memory regions (scatter/gather), read as one run of bytes.
///
/// ```java
/// import io.bulla.iovec.IoVec;
/// import java.lang.foreign.Arena;
///
/// void main() {
///     try (Arena arena = Arena.ofShared()) {
///         IoVec message = IoVec.of(arena.allocateFrom("header"), arena.allocateFrom("body"));
///         IoVec part = message.slice(3, 6); // no copy; across the border
///         IO.println(message.regionCount() + " regions, " + message.byteSize() + " bytes");
///         IO.print(part.hexDump());
///         IO.println(part.asByteBuffers().length + " views for a gathering write");
///     }
/// }
/// ```
///
/// ```text
/// 2 regions, 12 bytes
/// 00000000: 6465 7200 626f                           der.bo
/// 2 views for a gathering write
/// ```
///
/// Guarantees
/// - *Read-only*: no operation writes to the regions, and every view of them refuses writes.
/// - *Stateless*: an `IoVec` has no position; every view with a position is new. Any number of threads may use one
///   `IoVec`.
/// - *Borrowed*: it does not own the memory. A read after the memory was freed ends as the memory's owner defines
///   it (on an [java.lang.foreign.Arena] by an `IllegalStateException`). A vector can keep its holder reachable
///   ([#keeping]), so that a ledger does not heal it. A vector can throw after its memory was given back
///   ([#stamped]): a read checks the stamp after it has read. If a copy throws, the bytes in its target are void.
/// - *JDK views promise less*: a `MemorySegment` or `ByteBuffer` of a vector keeps nothing and checks nothing.
///
/// Offsets and lengths are in bytes. Empty regions are allowed and dropped. Integers are big-endian, as a builder
/// writes them, unless a read names an order or a layout.
public sealed interface IoVec permits OneRegion, ManyRegions, GuardedVec, StampedRegion {

    /// The longest view that [#asByteBuffers()] makes, in bytes; a longer region becomes several views.
    int MAX_VIEW = 1 << 30;

    /// The vector of no bytes.
    ///
    /// @return an empty vector
    static IoVec empty() {
        return OneRegion.EMPTY;
    }

    /// A vector over `regions`, in order.
    ///
    /// @param regions heap or native segments; read-only views of them are taken, their memory is not copied
    /// @return a vector of the regions that are not empty
    static IoVec of(MemorySegment... regions) {
        if (regions.length == 1 && regions[0].byteSize() > 0) {
            return new OneRegion(regions[0].isReadOnly() ? regions[0] : regions[0].asReadOnly());
        }
        List<MemorySegment> parts = new ArrayList<>(regions.length);
        for (MemorySegment region : regions) {
            if (region.byteSize() > 0) {
                parts.add(region.asReadOnly());
            }
        }
        return switch (parts.size()) {
            case 0 -> empty();
            case 1 -> new OneRegion(parts.getFirst());
            default -> new ManyRegions(parts.toArray(MemorySegment[]::new));
        };
    }

    /// The vectors' regions one after the other.
    ///
    /// @param parts vectors, in order
    /// @return one vector over all their regions, nothing copied
    static IoVec concat(IoVec... parts) {
        List<MemorySegment> regions = new ArrayList<>();
        for (IoVec part : parts) {
            IoVec lent = part.lent();
            for (int i = 0; i < lent.regionCount(); i++) {
                regions.add(lent.region(i));
            }
        }
        return GuardedVec.around(of(regions.toArray(MemorySegment[]::new)), parts);
    }

    /// The same bytes; the vector, its slices and concatenations keep `holder` reachable.
    ///
    /// @param holder never looked at
    /// @return a vector over the same regions
    default IoVec keeping(Object holder) {
        return new GuardedVec(this, holder);
    }

    /// The same bytes; the vector, its slices and concatenations throw once the stamp has ended.
    ///
    /// @param stamp ended by the memory's owner
    /// @return a vector over the same regions
    default IoVec stamped(Generation stamp) {
        return this instanceof OneRegion one
                ? new StampedRegion(one.segment(), stamp)
                : new GuardedVec(this, null, stamp);
    }

    /// Tells whether a stamp is looked at: then the memory may be reused once it is given back.
    ///
    /// @return false unless the memory's source stamps its regions
    default boolean isStamped() {
        return false;
    }

    /// Number of stamps that reads look at: in a concatenation each part brings its own.
    ///
    /// @return at least 0
    default int stampCount() {
        return 0;
    }

    /// The `index`-th stamp: for a source that finds its own memory again behind a buffer.
    ///
    /// @param index 0 to `stampCount() - 1`
    /// @return a stamp, which may have ended
    /// @throws IndexOutOfBoundsException if there is no such stamp
    default Generation stamp(int index) {
        throw new IndexOutOfBoundsException("no such stamp: index=" + index + " stamps=0");
    }

    /// The same bytes without stamp and without keeper, for one of two callers: one that reads at once and calls
    /// [#verify()] on this vector before it uses what it read, or one that keeps a handle open until it has let
    /// go of every view, as a send does. Views of it do not count as given out: the memory is reused after them.
    ///
    /// @return a vector over the same regions; itself if nothing guards it
    /// @throws IllegalStateException if a stamp has ended
    default IoVec lent() {
        return this;
    }

    /// Vouches for what was read from [#lent()]: passes if the memory was not given back before the end of the
    /// read.
    ///
    /// @throws IllegalStateException if a stamp has ended: what was read may be another buffer's
    default void verify() {}

    /// Number of bytes.
    ///
    /// @return at least 0
    long byteSize();

    /// Number of regions, none of them empty.
    ///
    /// @return at least 0
    int regionCount();

    /// The `index`-th region, as a view that looks at no stamp: a source that reuses memory leaves this memory alone
    /// from now on, until all of its slab is free. [#lent()] is for reads and sends that end.
    ///
    /// @param index 0 to `regionCount() - 1`
    /// @return a read-only segment
    /// @throws IndexOutOfBoundsException if there is no such region
    MemorySegment region(int index);

    /// The region that a byte lies in: for a reader of many values, which asks once and not for each.
    ///
    /// @param offset of the byte
    /// @return its index, for [#region] and [#regionStart]
    /// @throws IndexOutOfBoundsException if there is no such byte
    int regionAt(long offset);

    /// The offset of a region's first byte.
    ///
    /// @param index from 0 to `regionCount() - 1`
    /// @return the bytes of all regions before it
    /// @throws IndexOutOfBoundsException if there is no such region
    long regionStart(int index);

    /// A vector of `length` bytes from `offset` on, over the same memory.
    ///
    /// @param offset in bytes
    /// @param length in bytes
    /// @return a vector that shares the bytes
    /// @throws IndexOutOfBoundsException if the range is not inside this vector
    IoVec slice(long offset, long length);

    /// A view of `byteSize` bytes from `offset` on, for many reads of fields. No stamp is looked at before its first
    /// read.
    ///
    /// @param offset in bytes
    /// @param byteSize in bytes; best a constant
    /// @return a view that borrows the bytes as this vector does
    /// @throws IndexOutOfBoundsException if the range is not inside this vector
    RecordView record(long offset, int byteSize);

    /// Reads a byte.
    ///
    /// @param layout kept for symmetry with the wider reads
    /// @param offset in bytes
    /// @return the byte at `offset`
    /// @throws IndexOutOfBoundsException if it is not inside this vector
    byte get(ValueLayout.OfByte layout, long offset);

    /// Reads a `short`, also across a region border.
    ///
    /// @param layout size and byte order; use an unaligned layout
    /// @param offset in bytes
    /// @return the value at `offset`
    /// @throws IndexOutOfBoundsException if its two bytes are not both inside this vector
    short get(ValueLayout.OfShort layout, long offset);

    /// Reads an `int`, also across a region border.
    ///
    /// @param layout size and byte order; use an unaligned layout
    /// @param offset in bytes
    /// @return the value at `offset`
    /// @throws IndexOutOfBoundsException if its four bytes are not all inside this vector
    int get(ValueLayout.OfInt layout, long offset);

    /// Reads a `long`, also across a region border.
    ///
    /// @param layout size and byte order; use an unaligned layout
    /// @param offset in bytes
    /// @return the value at `offset`
    /// @throws IndexOutOfBoundsException if its eight bytes are not all inside this vector
    long get(ValueLayout.OfLong layout, long offset);

    /// Reads a byte.
    ///
    /// @param offset in bytes
    /// @return the byte at `offset`
    /// @throws IndexOutOfBoundsException if it is not inside this vector
    default byte getByte(long offset) {
        return get(ValueLayout.JAVA_BYTE, offset);
    }

    /// Reads two bytes, big-endian: what a builder's `putShort` wrote. They may lie across a region border.
    ///
    /// @param offset in bytes
    /// @return the value at `offset`
    /// @throws IndexOutOfBoundsException if its two bytes are not all inside this vector
    default short getShort(long offset) {
        return get(BigEndian.SHORT, offset);
    }

    /// Reads two bytes in the order given, as [#getShort(long)].
    ///
    /// @param offset in bytes
    /// @param order which byte comes first
    /// @return the value at `offset`
    /// @throws IndexOutOfBoundsException if its two bytes are not all inside this vector
    default short getShort(long offset, ByteOrder order) {
        short value = getShort(offset);
        return BigEndian.is(order) ? value : Short.reverseBytes(value);
    }

    /// Reads four bytes, big-endian: what a builder's `putInt` wrote. They may lie across a region border.
    ///
    /// @param offset in bytes
    /// @return the value at `offset`
    /// @throws IndexOutOfBoundsException if its four bytes are not all inside this vector
    default int getInt(long offset) {
        return get(BigEndian.INT, offset);
    }

    /// Reads four bytes in the order given, as [#getInt(long)].
    ///
    /// @param offset in bytes
    /// @param order which byte comes first
    /// @return the value at `offset`
    /// @throws IndexOutOfBoundsException if its four bytes are not all inside this vector
    default int getInt(long offset, ByteOrder order) {
        int value = getInt(offset);
        return BigEndian.is(order) ? value : Integer.reverseBytes(value);
    }

    /// Reads eight bytes, big-endian: what a builder's `putLong` wrote. They may lie across a region border.
    ///
    /// @param offset in bytes
    /// @return the value at `offset`
    /// @throws IndexOutOfBoundsException if its eight bytes are not all inside this vector
    default long getLong(long offset) {
        return get(BigEndian.LONG, offset);
    }

    /// Reads eight bytes in the order given, as [#getLong(long)].
    ///
    /// @param offset in bytes
    /// @param order which byte comes first
    /// @return the value at `offset`
    /// @throws IndexOutOfBoundsException if its eight bytes are not all inside this vector
    default long getLong(long offset, ByteOrder order) {
        long value = getLong(offset);
        return BigEndian.is(order) ? value : Long.reverseBytes(value);
    }

    /// Reads four bytes as a `float`, big-endian.
    ///
    /// @param offset in bytes
    /// @return the value at `offset`
    /// @throws IndexOutOfBoundsException if its four bytes are not all inside this vector
    default float getFloat(long offset) {
        return Float.intBitsToFloat(getInt(offset));
    }

    /// Reads four bytes as a `float` in the order given.
    ///
    /// @param offset in bytes
    /// @param order which byte comes first
    /// @return the value at `offset`
    /// @throws IndexOutOfBoundsException if its four bytes are not all inside this vector
    default float getFloat(long offset, ByteOrder order) {
        return Float.intBitsToFloat(getInt(offset, order));
    }

    /// Reads eight bytes as a `double`, big-endian.
    ///
    /// @param offset in bytes
    /// @return the value at `offset`
    /// @throws IndexOutOfBoundsException if its eight bytes are not all inside this vector
    default double getDouble(long offset) {
        return Double.longBitsToDouble(getLong(offset));
    }

    /// Reads eight bytes as a `double` in the order given.
    ///
    /// @param offset in bytes
    /// @param order which byte comes first
    /// @return the value at `offset`
    /// @throws IndexOutOfBoundsException if its eight bytes are not all inside this vector
    default double getDouble(long offset, ByteOrder order) {
        return Double.longBitsToDouble(getLong(offset, order));
    }

    /// Copies `length` bytes from `offset` on to the start of `target`. Counted in [CopyTally].
    ///
    /// @param offset in bytes
    /// @param target a writable segment of at least `length` bytes
    /// @param length in bytes
    /// @throws IndexOutOfBoundsException if the range is not inside this vector or does not fit into `target`;
    ///     nothing is copied then
    void copyTo(long offset, MemorySegment target, long length);

    /// Fresh read-only views of the regions, in order, for one gathering write.
    ///
    /// Each call makes new ones: position and limit belong to the caller. A region longer than [#MAX_VIEW]
    /// becomes several views.
    ///
    /// @return views at position 0, big-endian; none for an empty vector
    default ByteBuffer[] asByteBuffers() {
        int regions = regionCount();
        List<ByteBuffer> views = new ArrayList<>(regions);
        for (int i = 0; i < regions; i++) {
            MemorySegment region = region(i);
            for (long from = 0; from < region.byteSize(); from += MAX_VIEW) {
                long length = Math.min(MAX_VIEW, region.byteSize() - from);
                views.add(region.asSlice(from, length).asByteBuffer());
            }
        }
        return views.toArray(ByteBuffer[]::new);
    }

    /// The bytes as one segment, not copied.
    ///
    /// @return a read-only segment
    /// @throws IllegalArgumentException if they lie in several regions; [#toSegment] copies them together
    default MemorySegment asSegment() {
        return switch (regionCount()) {
            case 0 -> OneRegion.EMPTY.segment();
            case 1 -> region(0);
            default ->
                throw new IllegalArgumentException(
                        "bytes lie in several regions: regions=" + regionCount() + " byteSize=" + byteSize());
        };
    }

    /// A copy of the bytes in one piece. Counted in [CopyTally].
    ///
    /// @param memory where the copy lies
    /// @return a read-only segment
    default MemorySegment toSegment(SegmentAllocator memory) {
        MemorySegment copy = memory.allocate(byteSize());
        copyTo(0, copy, byteSize());
        return copy.asReadOnly();
    }

    /// The bytes as a stream, with mark and reset, from any offset on by `skip`. What is read is a copy, and
    /// counted.
    ///
    /// @return a stream of its own, for one thread
    default InputStream asInputStream() {
        return new VecInputStream(this);
    }

    /// The bytes as a channel. What is read is a copy, and counted.
    ///
    /// @return a channel of its own, for one thread
    default ReadableByteChannel asChannel() {
        return new VecInputStream(this);
    }

    /// Writes every byte to a blocking channel, in as few gathering writes as it takes.
    ///
    /// This vector, and what it keeps, is reachable until the last byte was accepted.
    ///
    /// @param channel a blocking channel
    /// @return number of bytes written: [#byteSize()]
    /// @throws IOException from the channel; any number of bytes may have been written
    default long writeTo(GatheringByteChannel channel) throws IOException {
        Generation[] stamps = GuardedVec.stampsOf(this);
        GuardedVec.hold(this, stamps);
        try {
            ByteBuffer[] views = GuardedVec.regionsOf(this).asByteBuffers();
            for (int first = 0; first < views.length; ) {
                if (views[first].hasRemaining()) {
                    channel.write(views, first, views.length - first);
                } else {
                    first++;
                }
            }
            return byteSize();
        } finally {
            GuardedVec.letGo(stamps, stamps.length);
            Reference.reachabilityFence(this);
        }
    }

    /// The offset of the first byte that differs.
    ///
    /// @param other the vector to compare with; how either is cut into regions does not matter
    /// @return -1 if both hold the same bytes; the shorter one's size if it is a prefix of the other
    default long mismatch(IoVec other) {
        try {
            return Content.mismatch(GuardedVec.regionsOf(this), GuardedVec.regionsOf(other));
        } finally {
            verify();
            other.verify();
            Reference.reachabilityFence(this);
            Reference.reachabilityFence(other);
        }
    }

    /// Compares byte by byte, unsigned; of two of which one is a prefix of the other, the shorter one comes first.
    ///
    /// @param other the vector to compare with; how either is cut into regions does not matter
    /// @return negative, zero or positive, as this vector comes before, with or after `other`
    default int compareContent(IoVec other) {
        long at = mismatch(other);
        return at < 0 || at == byteSize() || at == other.byteSize()
                ? Long.compare(byteSize(), other.byteSize())
                : Byte.compareUnsigned(getByte(at), other.getByte(at));
    }

    /// The offset of the first place where `wanted` lies, also across a region border.
    ///
    /// @param from where to begin, in bytes
    /// @param wanted one byte or a run of them; an empty run lies everywhere
    /// @return `from` or more; -1 if there is no such place
    /// @throws IndexOutOfBoundsException if `from` is not inside this vector or at its end
    default long indexOf(long from, byte... wanted) {
        checkRange("search", from, 0, byteSize());
        try {
            return Content.indexOf(GuardedVec.regionsOf(this), from, wanted);
        } finally {
            verify();
            Reference.reachabilityFence(this);
        }
    }

    /// The bytes as `xxd` shows them: lines of an offset, sixteen bytes in hexadecimal, and the same bytes as ASCII
    /// with a dot for each that is not printable. For people; a slice keeps it short.
    ///
    /// ```
    /// 00000000: 6865 6c6c 6f00 0000 0001 0000 0002 0000  hello...........
    /// 00000010: 0003                                     ..
    /// ```
    ///
    /// @return lines that each end with a newline; an empty text for an empty vector
    default String hexDump() {
        return HexDump.of(this);
    }

    /// Equal to a vector of the same bytes, however either is cut into regions.
    ///
    /// @param other anything
    /// @return whether it is a vector with the same bytes
    @Override
    boolean equals(@Nullable Object other);

    /// As [java.util.Arrays#hashCode(byte[])] of the bytes. Reads all of them.
    ///
    /// @return the same for equal vectors
    @Override
    int hashCode();

    /// Checks a range against a size, with the message that all of Bulla's range errors have.
    ///
    /// @param what what the caller tried, for the message
    /// @param offset in bytes
    /// @param length in bytes
    /// @param byteSize size of what the range should lie in
    /// @throws IndexOutOfBoundsException if it does not
    static void checkRange(String what, long offset, long length, long byteSize) {
        if ((offset | length) < 0 || length > byteSize - offset) {
            throw new IndexOutOfBoundsException(
                    what + " past the end: offset=" + offset + " length=" + length + " byteSize=" + byteSize);
        }
    }
}
