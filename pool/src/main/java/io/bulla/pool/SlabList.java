// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import org.jspecify.annotations.Nullable;

/// Slabs that are empty, linked by [Slab#next]: the one that was put last comes first. Guarded by the lock of [Slabs].
final class SlabList {

    private @Nullable Slab first;

    boolean isEmpty() {
        return first == null;
    }

    void put(Slab slab) {
        slab.next = first;
        first = slab;
    }

    /// Takes the first slab of a size.
    ///
    /// @return null if there is none
    @Nullable
    Slab takeOf(long bytes) {
        Slab before = null;
        for (Slab each = first; each != null; before = each, each = each.next) {
            if (each.byteSize == bytes) {
                unlink(before, each);
                return each;
            }
        }
        return null;
    }

    /// Takes those that were empty at a time already; the others keep their order.
    ///
    /// @return linked, the one that was put first comes first
    @Nullable
    Slab takeEmptySince(long time) {
        Slab taken = null;
        Slab before = null;
        for (Slab each = first; each != null; ) {
            Slab next = each.next;
            if (each.emptySince - time <= 0) {
                unlink(before, each);
                each.next = taken;
                taken = each;
            } else {
                before = each;
            }
            each = next;
        }
        return taken;
    }

    /// Takes all.
    ///
    /// @return linked, the one that was put last comes first
    @Nullable
    Slab takeAll() {
        Slab all = first;
        first = null;
        return all;
    }

    private void unlink(@Nullable Slab before, Slab each) {
        if (before == null) {
            first = each.next;
        } else {
            before.next = each.next;
        }
    }

    long bytes() {
        long bytes = 0;
        for (Slab each = first; each != null; each = each.next) {
            bytes += each.byteSize;
        }
        return bytes;
    }
}
