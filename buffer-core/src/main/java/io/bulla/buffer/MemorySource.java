package io.bulla.buffer;

import io.bulla.refcount.LeaseTrace;
import java.lang.foreign.MemorySegment;

/// Hands out memory. Thread-safe.
///
/// The bytes of a region may hold anything; whoever takes it writes before it reads.
public interface MemorySource {

    /// Takes a region of at least `byteSize` bytes.
    ///
    /// @param byteSize in bytes, at least 1
    /// @return a region of its own, to be given back once
    /// @throws IllegalStateException if a limit of the source forbids it; nothing is taken then
    Region allocate(long byteSize);

    /// Ends the writing of a region: `used` bytes from its start stay, the rest may be given back.
    ///
    /// @param region taken from this source
    /// @param used in bytes, at most the region's size
    /// @return a read-only segment of `used` bytes with the same content, perhaps at another address
    default MemorySegment seal(Region region, long used) {
        return region.segment().asSlice(0, used).asReadOnly();
    }

    /// Who is told of every handle on memory of this source.
    ///
    /// @return a listener, or `null` for nobody
    default LeaseTrace trace() {
        return null;
    }

    /// A piece of memory, writable until it is sealed.
    interface Region {

        /// The memory.
        ///
        /// @return a native segment that any thread may access
        MemorySegment segment();

        /// Gives the memory back. Called once, from any thread; it does not block.
        void release();
    }
}
