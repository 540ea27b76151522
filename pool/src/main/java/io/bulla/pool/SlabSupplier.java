// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import java.lang.foreign.MemorySegment;

/// Where a [SlabSource] has its slabs from. Called under the source's lock, one call at a time, as its memory is.
public interface SlabSupplier {

    /// Takes memory.
    ///
    /// @param byteSize a multiple of [SlabSource#SLAB]
    /// @return memory of that size, aligned to [SlabSource#SLAB], accessible by any thread; its bytes may hold
    ///     anything
    /// @throws OutOfMemoryError if the machine has no more
    /// @throws io.bulla.buffer.MemoryLimitException if a limit of the supplier's own forbids it
    Memory take(long byteSize);

    /// Slabs that are shared arenas of the JDK's: no flag, no restricted method. Ending one is a handshake with
    /// every thread. On Linux a slab of up to 30 MiB takes 32 MiB of addresses besides, without pages, so that its
    /// memory goes back to the system with it whatever `malloc` keeps; it does without if the system refuses that.
    ///
    /// @return a supplier, for any number of sources
    static SlabSupplier arenas() {
        return ArenaMemory::take;
    }

    /// The memory of one slab.
    interface Memory {

        /// The bytes.
        ///
        /// @return the same segment each time
        MemorySegment segment();

        /// Gives the pages back to the system, if that can be done without an end of the memory: views of it stay
        /// usable, and read zeros.
        ///
        /// @return false if only [#end()] gives them back
        default boolean discard() {
            return false;
        }

        /// Ends the memory: views of it throw from here on. Called once more after it threw.
        ///
        /// @throws IllegalStateException if a system call of the JDK's is in the memory right now
        void end();
    }
}
