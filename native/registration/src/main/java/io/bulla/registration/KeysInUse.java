// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The keys of marks that a device has made up: a hash table of chains that go through the marks themselves, so that
/// one that comes when the device has made its mark cannot fail, even with a full heap. Under its owner's lock.
final class KeysInUse {

    private static final int LEAST = 64;

    private @Nullable Marked[] heads = new Marked[LEAST];
    private int size;

    /// Makes room for one more. To be called before the device is asked: it may fail, and nothing is changed then.
    void reserve() {
        if (size < heads.length) {
            return;
        }
        @Nullable Marked[] larger = new Marked[2 * heads.length];
        for (Marked head : heads) {
            for (Marked each = head; each != null; ) {
                Marked rest = each.nextOfKey;
                int at = place(each.markKey(), larger.length);
                each.nextOfKey = larger[at];
                larger[at] = each;
                each = rest;
            }
        }
        heads = larger;
    }

    /// Allocates nothing.
    ///
    /// @param fresh in no table yet, and named by this key from now on
    /// @return false if it is another mark's
    boolean add(Marked fresh, long key) {
        int at = place(key, heads.length);
        for (Marked each = heads[at]; each != null; each = each.nextOfKey) {
            if (each.markKey() == key) {
                return false;
            }
        }
        fresh.named(key);
        fresh.nextOfKey = heads[at];
        heads[at] = fresh;
        size++;
        return true;
    }

    /// Allocates nothing.
    ///
    /// @param old was added
    void remove(Marked old) {
        int at = place(old.markKey(), heads.length);
        Marked before = null;
        for (Marked each = heads[at]; each != old; each = each.nextOfKey) {
            before = Objects.requireNonNull(each, "mark is not in the table");
        }
        if (before == null) {
            heads[at] = old.nextOfKey;
        } else {
            before.nextOfKey = old.nextOfKey;
        }
        old.nextOfKey = null;
        size--;
    }

    int size() {
        return size;
    }

    /// Devices count up, often in steps of a power of two.
    private static int place(long key, int places) {
        long mixed = key * 0x9e3779b97f4a7c15L;
        return (int) (mixed >>> 32) & (places - 1);
    }
}
