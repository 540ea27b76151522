// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.iovec.Generation;
import io.bulla.refcount.LeaseTrace;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Hands out memory. Thread-safe. A source of one's own needs `allocate` and a [Region]; the rest has defaults.
///
/// ```
/// allocate --> region, writable --grow--> region, perhaps another --seal--> read-only --release--> gone
/// ```
///
/// The bytes of a region may hold anything; its taker writes before it reads.
public interface MemorySource {

    /// Takes a region of at least `byteSize` bytes.
    ///
    /// @param byteSize in bytes, at least 1
    /// @return a region of its own, to be given back once
    /// @throws MemoryLimitException if a limit of the source forbids it; nothing is taken then
    Region allocate(long byteSize);

    /// Makes a region larger, if that is cheaper than taking another one beside it.
    ///
    /// @param region taken from this source, not sealed
    /// @param byteSize the size wanted, in bytes, more than it has
    /// @return the region to use from now on, with the same first bytes, perhaps at another address: the old
    ///     one if it grew in place, else a new one, the old one being given back; or `null` to refuse, the
    ///     region being as before
    default @Nullable Region grow(Region region, long byteSize) {
        return null;
    }

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
    /// @return a listener, or `null` for none
    default @Nullable LeaseTrace trace() {
        return null;
    }

    /// A piece of memory, writable until it is sealed.
    interface Region {

        /// The memory. Not kept across [MemorySource#grow] and [MemorySource#seal].
        ///
        /// @return a native segment that any thread may access
        MemorySegment segment();

        /// How large the region is.
        ///
        /// @return in bytes
        default long byteSize() {
            return segment().byteSize();
        }

        /// A stamp that ends when the region is given back, for sources that check their views.
        ///
        /// @return `null` if views are not checked
        default @Nullable Generation generation() {
            return null;
        }

        /// Gives the memory back. Called once, from any thread; it does not block.
        void release();
    }
}
