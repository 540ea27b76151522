// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a device knows or is being told, the oldest first. Linked through the marks themselves, so that one that
/// comes and goes allocates nothing here and is not searched for. Under its owner's lock.
final class Marks {

    private @Nullable Marked first;
    private @Nullable Marked last;
    private int size;

    int size() {
        return size;
    }

    /// @param fresh was in no list yet
    void add(Marked fresh) {
        Marked before = last;
        fresh.previous = before;
        if (before == null) {
            first = fresh;
        } else {
            before.next = fresh;
        }
        last = fresh;
        fresh.isListed = true;
        size++;
    }

    /// @return false if it is not here, or not any more
    boolean remove(Marked old) {
        if (!old.isListed) {
            return false;
        }
        Marked before = old.previous;
        Marked after = old.next;
        if (before == null) {
            first = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.previous = before;
        }
        old.previous = null;
        old.next = null;
        old.isListed = false;
        size--;
        return true;
    }

    List<Marked> copy() {
        List<Marked> all = new ArrayList<>(size);
        for (Marked each = first; each != null; each = each.next) {
            all.add(each);
        }
        return all;
    }
}
