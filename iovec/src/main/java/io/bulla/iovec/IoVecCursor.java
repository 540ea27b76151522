// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/// One send's progress through a vector, in the form that NIO channels take.
///
/// ```java
/// import io.bulla.iovec.*;
/// import java.lang.foreign.MemorySegment;
///
/// void main() throws IOException {
///     IoVec message = IoVec.of(MemorySegment.ofArray(new byte[700]), MemorySegment.ofArray(new byte[300]));
///     Path file = Files.createTempFile("message", null);
///     try (FileChannel out = FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE)) {
///         IoVecCursor send = IoVecCursor.of(message); // any number of sends, each with a cursor of its own
///         while (send.remaining() > 0) {
///             send.advance(out.write(send.window(16, 400))); // at most 16 views and 400 bytes at a time
///             IO.println("sent " + send.position());
///         }
///     }
/// }
/// ```
///
/// ```text
/// sent 400
/// sent 800
/// sent 1000
/// ```
///
/// ```
/// 0 --advance(n)--> n ... --> byteSize, done      rewind() goes back to 0, for a send that starts anew
/// ```
///
/// The vector is shared and never touched, so any number of sends may go through it at once, each with a cursor
/// of its own. A cursor belongs to one thread at a time. [NativeIoVecCursor] is the same for system calls.
public final class IoVecCursor {

    private final IoVec vec;
    private long position;
    // where the position lies
    private int region;
    private long inRegion;

    private IoVecCursor(IoVec vec) {
        this.vec = vec;
    }

    /// A cursor at the start of `vec`.
    ///
    /// @param vec what is sent; kept reachable
    /// @return a cursor of its own
    public static IoVecCursor of(IoVec vec) {
        return new IoVecCursor(vec);
    }

    /// Bytes that are not sent yet.
    ///
    /// @return 0 when done
    public long remaining() {
        return vec.byteSize() - position;
    }

    /// Bytes that are sent.
    ///
    /// @return at least 0
    public long position() {
        return position;
    }

    /// Moves on by what the channel took; it may end inside a region.
    ///
    /// @param bytes from 0 to [#remaining()]
    /// @throws IndexOutOfBoundsException if it is more, or negative; the position stays
    public void advance(long bytes) {
        IoVec.checkRange("advance", position, bytes, vec.byteSize());
        position += bytes;
        inRegion += bytes;
        // sizes alone: no view is given out
        IoVec regions = GuardedVec.regionsOf(vec);
        while (region < regions.regionCount()
                && inRegion >= regions.region(region).byteSize()) {
            inRegion -= regions.region(region++).byteSize();
        }
    }

    /// Goes back to byte 0, for a new connection.
    public void rewind() {
        position = 0;
        region = 0;
        inRegion = 0;
    }

    /// Fresh read-only views of the next bytes, for one gathering write; the last one is cut where `maxBytes`
    /// ends. The write moves the views, not this cursor: tell it with [#advance].
    ///
    /// @param maxViews the most views, at least 1
    /// @param maxBytes the most bytes, at least 1
    /// @return none when nothing is left
    /// @throws IllegalArgumentException if a limit is less than 1
    public ByteBuffer[] window(int maxViews, long maxBytes) {
        if (maxViews < 1 || maxBytes < 1) {
            throw new IllegalArgumentException("a window of nothing: maxViews=" + maxViews + " maxBytes=" + maxBytes);
        }
        List<ByteBuffer> views = new ArrayList<>(Math.min(maxViews, vec.regionCount() - region));
        long left = Math.min(maxBytes, remaining());
        long from = inRegion;
        for (int i = region; left > 0 && views.size() < maxViews; ) {
            MemorySegment memory = vec.region(i);
            long length = Math.min(Math.min(memory.byteSize() - from, IoVec.MAX_VIEW), left);
            views.add(memory.asSlice(from, length).asByteBuffer());
            left -= length;
            from += length;
            if (from == memory.byteSize()) {
                from = 0;
                i++;
            }
        }
        return views.toArray(ByteBuffer[]::new);
    }
}
