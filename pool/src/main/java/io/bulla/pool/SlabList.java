// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Slabs that are empty, linked by [Slab#next]: the one that was put last comes first. Guarded by the lock of
/// [Slabs].
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

    /// Takes the one that was put last.
    ///
    /// @return null if there is none
    @Nullable
    Slab poll() {
        Slab last = first;
        if (last != null) {
            first = last.next;
        }
        return last;
    }

    /// Moves those that were empty at a time already into another list, where the one that was put first comes first.
    /// The others keep their order.
    void moveEmptySince(long time, SlabList target) {
        Slab before = null;
        for (Slab each = first; each != null; ) {
            Slab next = each.next;
            if (each.emptySince - time <= 0) {
                unlink(before, each);
                target.put(each);
            } else {
                before = each;
            }
            each = next;
        }
    }

    /// Takes each slab of now, once, for a step that may put it back. What it does not come to, for an error, stays.
    void drain(Consumer<Slab> step) {
        Slab left = first;
        first = null;
        try {
            while (left != null) {
                Slab each = left;
                left = each.next;
                step.accept(each);
            }
        } finally {
            while (left != null) {
                Slab next = left.next;
                put(left);
                left = next;
            }
        }
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
