// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.stream;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// Receives so many bytes of a stream into a buffer.
public final class WholeReceive {

    private WholeReceive() {}

    /// Waits for them.
    ///
    /// @param into where their memory is taken from; given back if this fails
    /// @throws EOFException if the peer closes before
    /// @throws IOException if the system refuses
    public static SealedBuffer receive(StreamSocket from, MemorySource into, long length) throws IOException {
        Region region = into.allocate(Math.max(1, length));
        boolean whole = false;
        try {
            MemorySegment target = region.segment();
            for (long done = 0; done < length; ) {
                long read = from.receive(target.asSlice(done, length - done));
                if (read < 0) {
                    throw new EOFException("connection ended: wanted=" + length + " read=" + done);
                }
                done += read;
            }
            MemorySegment sealed = into.seal(region, length);
            whole = true;
            return SealedBuffer.adopt(sealed, region::release);
        } finally {
            if (!whole) {
                region.release();
            }
        }
    }
}
