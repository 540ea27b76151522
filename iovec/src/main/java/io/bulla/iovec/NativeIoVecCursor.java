// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;

/// One send's progress through a [NativeIoVec], in the form that system calls take.
///
/// ```
/// 0 --advance(n)--> n ... --> byteSize, done      rewind() goes back to 0, for a send that starts anew
/// ```
///
/// The image is shared and never touched. A window that is not the image from its start, after a partial send, or
/// with a header before it, or cut by a limit, is written into the cursor's own scratch. A cursor belongs to one
/// send, so to one thread at a time, and allocates nothing once it is made.
public final class NativeIoVecCursor {

    private final MemorySegment header;
    private final NativeIoVec image;
    private final MemorySegment scratch;
    private final int scratchEntries;
    private final int entryCount;
    private final long byteSize;
    private long position;
    // where the position lies: an entry (the header, if any, is entry 0), and bytes of it that are done
    private int entry;
    private long inEntry;
    private int windowEntries;
    private long windowBytes;

    private NativeIoVecCursor(MemorySegment header, NativeIoVec image, SegmentAllocator memory, int scratchEntries) {
        if (scratchEntries < 1) {
            throw new IllegalArgumentException("a cursor needs room for an entry: scratchEntries=" + scratchEntries);
        }
        this.header = header;
        this.image = image;
        this.scratchEntries = scratchEntries;
        this.scratch = memory.allocate(scratchEntries * NativeIoVec.ENTRY_BYTES, ValueLayout.JAVA_LONG.byteAlignment());
        this.entryCount = image.entryCount() + headerEntries();
        this.byteSize = Math.addExact(image.iovec().byteSize(), header.byteSize());
    }

    /// A cursor at the start of `image`.
    ///
    /// @param image what is sent
    /// @param memory where the scratch lies, 16 bytes per entry, good for as long as the cursor is used
    /// @param scratchEntries the most entries of a window that is not the image's own start, at least 1
    /// @return a cursor of its own
    /// @throws IllegalArgumentException if `scratchEntries` is less than 1
    public static NativeIoVecCursor of(NativeIoVec image, SegmentAllocator memory, int scratchEntries) {
        return new NativeIoVecCursor(MemorySegment.NULL, image, memory, scratchEntries);
    }

    /// A cursor at the start of `header`, which `image` follows: one gather, and the body stays where it is.
    /// For frames on a raw socket, where each peer's header has a number of its own and all share one image.
    ///
    /// @param header native memory of this destination's own, kept as it is until the send is done
    /// @param image the body, shared with other destinations
    /// @param memory as in [#of]
    /// @param scratchEntries as in [#of]
    /// @return a cursor of its own
    /// @throws IllegalArgumentException if `scratchEntries` is less than 1, or the header lies on the heap
    ///     or in an arena that was closed
    public static NativeIoVecCursor withHeader(
            MemorySegment header, NativeIoVec image, SegmentAllocator memory, int scratchEntries) {
        NativeIoVec.checkReachable("header", -1, header);
        return new NativeIoVecCursor(header, image, memory, scratchEntries);
    }

    /// Bytes that are not sent yet.
    ///
    /// @return 0 when done
    public long remaining() {
        return byteSize - position;
    }

    /// Bytes that are sent.
    ///
    /// @return at least 0
    public long position() {
        return position;
    }

    /// Moves on by what the kernel took; it may end inside a region.
    ///
    /// @param bytes from 0 to [#remaining()]
    /// @throws IndexOutOfBoundsException if it is more, or negative; the position stays
    public void advance(long bytes) {
        IoVec.checkRange("advance", position, bytes, byteSize);
        position += bytes;
        inEntry += bytes;
        while (entry < entryCount && inEntry >= length(entry)) {
            inEntry -= length(entry++);
        }
    }

    /// Goes back to byte 0, for a new connection.
    public void rewind() {
        position = 0;
        entry = 0;
        inEntry = 0;
    }

    /// The next entries to send: the first [#windowEntries()] of the returned segment, good until the next call
    /// of this cursor. The last one is cut where `maxBytes` ends.
    ///
    /// @param maxEntries the most that the receiver of the window takes, such as `IOV_MAX`, at least 1
    /// @param maxBytes the most bytes of one window, at least 1
    /// @return the image itself or this cursor's scratch, not to be written to
    /// @throws IllegalArgumentException if a limit is less than 1
    /// @throws IllegalStateException if the arena of the image or of the scratch was closed
    public MemorySegment window(int maxEntries, long maxBytes) {
        if (maxEntries < 1 || maxBytes < 1) {
            throw new IllegalArgumentException(
                    "a window of nothing: maxEntries=" + maxEntries + " maxBytes=" + maxBytes);
        }
        if (position == 0 && header.byteSize() == 0 && entryCount <= maxEntries && byteSize <= maxBytes) {
            windowEntries = entryCount;
            windowBytes = byteSize;
            return image.checkedEntries();
        }
        int most = Math.min(maxEntries, scratchEntries);
        if (entryCount - entry <= most && remaining() <= maxBytes) {
            return rest();
        }
        long skipped = inEntry;
        int entries = 0;
        long bytes = 0;
        for (int i = entry; i < entryCount && entries < most && bytes < maxBytes; i++) {
            long length = Math.min(length(i) - skipped, maxBytes - bytes);
            NativeIoVec.put(scratch, entries++, address(i) + skipped, length);
            bytes += length;
            skipped = 0;
        }
        windowEntries = entries;
        windowBytes = bytes;
        return scratch;
    }

    /// Entries of the last window.
    ///
    /// @return 0 when nothing was left
    public int windowEntries() {
        return windowEntries;
    }

    /// Bytes of the last window.
    ///
    /// @return 0 when nothing was left
    public long windowBytes() {
        return windowBytes;
    }

    /// All that is left: a first entry of this send's own, then the image's as they are.
    private MemorySegment rest() {
        windowEntries = entryCount - entry;
        windowBytes = remaining();
        if (windowEntries > 0) {
            NativeIoVec.put(scratch, 0, address(entry) + inEntry, length(entry) - inEntry);
            MemorySegment.copy(
                    image.entries(),
                    (entry + 1 - headerEntries()) * NativeIoVec.ENTRY_BYTES,
                    scratch,
                    NativeIoVec.ENTRY_BYTES,
                    (windowEntries - 1) * NativeIoVec.ENTRY_BYTES);
        }
        return scratch;
    }

    private int headerEntries() {
        return header.byteSize() == 0 ? 0 : 1;
    }

    private long address(int index) {
        return index < headerEntries() ? header.address() : image.address(index - headerEntries());
    }

    private long length(int index) {
        return index < headerEntries() ? header.byteSize() : image.length(index - headerEntries());
    }
}
