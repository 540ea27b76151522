// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// All magazines of a source: those of platform threads, those that threads share, and those that were revoked and are
/// not left yet. Guarded by the lock of [Slabs], but for [#of].
final class Magazines {

    private final Magazine[] stripes;
    private final Home home;
    private final Map<Thread, Magazine> owned = new ConcurrentHashMap<>();
    private final Set<Magazine> revoked = new HashSet<>();
    // of magazines that are gone
    private long taken;
    private long missed;

    Magazines(Magazine[] stripes, Home home) {
        this.stripes = stripes;
        this.home = home;
    }

    /// The magazine of a thread, or null if it has none that may be entered.
    @Nullable
    Magazine of(Thread owner) {
        Magazine mine = owned.get(owner);
        return mine == null || mine.isRevoked() ? null : mine;
    }

    /// Adds a thread's first one, or the one after a revoked one.
    void put(Thread owner, Magazine fresh) {
        owned.put(owner, fresh);
    }

    int owned() {
        return owned.size();
    }

    /// Revokes what did nothing since so many calls: its slots are taken over after a handshake.
    ///
    /// @param idleFor 0 for all
    /// @return how many were revoked
    int revoke(int idleFor) {
        int marked = revokeOwned(idleFor);
        for (Magazine shared : stripes) {
            if (shared.quietFor() >= idleFor && shared.bytes() > 0 && shared.tryEnter()) {
                try {
                    unload(shared);
                } finally {
                    shared.exit();
                }
            }
        }
        return marked;
    }

    /// Revokes all for good.
    ///
    /// @return how many were revoked
    int revokeForGood() {
        int marked = revokeOwned(0);
        for (Magazine each : stripes) {
            if (!each.isRevoked()) {
                revoked.add(each);
                each.revoke();
                marked++;
            }
        }
        return marked;
    }

    private int revokeOwned(int idleFor) {
        int marked = 0;
        for (Magazine each : owned.values()) {
            if (each.quietFor() >= idleFor) {
                revoked.add(each);
                each.revoke();
                owned.remove(each.owner, each);
                marked++;
            }
        }
        return marked;
    }

    /// Brings the slots home of threads that have ended, and of revoked magazines that are left.
    void takeOver() {
        for (Magazine each : owned.values()) {
            Thread owner = each.owner;
            if (owner != null && !owner.isAlive()) {
                // all that the thread did is before this (JLS 17.4.4)
                owned.remove(owner, each);
                unload(each);
                retireCounts(each);
            }
        }
        revoked.removeIf(this::takeOverIfLeft);
    }

    private boolean takeOverIfLeft(Magazine each) {
        if (!each.isLeft()) {
            return false;
        }
        unload(each);
        if (each.owner != null) {
            retireCounts(each);
        }
        return true;
    }

    private void retireCounts(Magazine each) {
        taken += each.taken();
        missed += each.missed();
    }

    private void unload(Magazine magazine) {
        for (int i = 0; i < SizeClasses.COUNT; i++) {
            home.bring(i, magazine.unload(i));
        }
    }

    long bytes() {
        long bytes = 0;
        for (Magazine each : owned.values()) {
            bytes += each.bytes();
        }
        for (Magazine each : stripes) {
            bytes += each.bytes();
        }
        return bytes;
    }

    long taken() {
        long all = taken;
        for (Magazine each : owned.values()) {
            all += each.taken();
        }
        for (Magazine each : stripes) {
            all += each.taken();
        }
        return all;
    }

    long missed() {
        long all = missed;
        for (Magazine each : owned.values()) {
            all += each.missed();
        }
        for (Magazine each : stripes) {
            all += each.missed();
        }
        return all;
    }
}
