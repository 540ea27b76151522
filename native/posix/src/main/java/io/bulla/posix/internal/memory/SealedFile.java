// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.memory;

import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.Mapping;
import io.bulla.posix.internal.calls.Unmapper;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/// A sealed memory file, mapped read-only in this process. Each holder of a buffer on it keeps it. Any thread may
/// call.
///
/// Which file a piece of memory belongs to is found by its address: all that are mapped are listed here, and two
/// mappings never overlap. So a buffer needs no word about files, and a slice, a share and what was received are
/// found alike.
public final class SealedFile extends Unmapper.Freeable {

    private static final ConcurrentSkipListMap<Long, SealedFile> MAPPED = new ConcurrentSkipListMap<>();

    private final Descriptor descriptor;
    private final Mapping mapping;
    private final long offset;
    private final Runnable afterwards;
    // belongs to the thread that frees
    private boolean unmapped;

    private SealedFile(Descriptor descriptor, Mapping mapping, long offset, Runnable afterwards) {
        this.descriptor = descriptor;
        this.mapping = mapping;
        this.offset = offset;
        this.afterwards = afterwards;
    }

    /// Maps a part of a sealed file, and takes the descriptor over unless that fails.
    ///
    /// @param offset of the part in the file, a multiple of the page size
    /// @param shared false for a private mapping, as [Mapping#readOnly]
    /// @param afterwards run when all is given back
    /// @throws PosixException if the system refuses
    public static SealedFile map(
            int fd, Descriptor descriptor, long offset, long bytes, boolean shared, Runnable afterwards)
            throws PosixException {
        Mapping mapping = Mapping.readOnly(fd, offset, bytes, shared);
        try {
            SealedFile file = new SealedFile(descriptor, mapping, offset, afterwards);
            MAPPED.put(mapping.segment().address(), file);
            return file;
        } catch (Throwable failure) {
            MAPPED.remove(mapping.segment().address());
            mapping.close();
            throw failure;
        }
    }

    /// The file that memory belongs to.
    ///
    /// @param memory of a buffer that the caller holds
    /// @return `null` if it is not memory of one sealed file
    public static @Nullable SealedFile of(MemorySegment memory) {
        if (!memory.isNative()) {
            return null;
        }
        Map.Entry<Long, SealedFile> below = MAPPED.floorEntry(memory.address());
        if (below == null) {
            return null;
        }
        MemorySegment mapped = below.getValue().memory();
        long start = memory.address() - mapped.address();
        return start + memory.byteSize() <= mapped.byteSize() ? below.getValue() : null;
    }

    public MemorySegment memory() {
        return mapping.segment();
    }

    public Descriptor descriptor() {
        return descriptor;
    }

    /// Where in the file this mapping begins.
    long offset() {
        return offset;
    }

    /// Where in the file a piece of this mapping is.
    public long offsetOf(MemorySegment memory) {
        return offset + memory.address() - memory().address();
    }

    /// Gives it back: the descriptor now, of which a process has few, and the mapping soon. Once.
    public void release() {
        try {
            descriptor.close();
        } finally {
            Unmapper.MAPPINGS.later(this);
        }
    }

    @Override
    public void free() {
        if (!unmapped) {
            // before the address can be another file's
            MAPPED.remove(memory().address(), this);
            mapping.close();
            unmapped = true;
        }
        afterwards.run();
    }
}
