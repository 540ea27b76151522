// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A carved piece of a slab. In one place at a time: a region, a magazine, a chain of the depot, or at home.
final class Slot {

    /// Of a region that has a slab of its own.
    static final int WHOLE = -1;

    final Slab slab;
    final MemorySegment memory;
    final int sizeClass;
    final long byteSize;
    // in a list; the list's owner's
    @Nullable
    Slot next;

    Slot(Slab slab, MemorySegment memory, int sizeClass) {
        this.slab = slab;
        this.memory = memory;
        this.sizeClass = sizeClass;
        this.byteSize = memory.byteSize();
    }

    long byteSize() {
        return byteSize;
    }
}
