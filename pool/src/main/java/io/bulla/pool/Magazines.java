// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// All magazines of a source: those of platform threads, those that threads share, and those that were revoked and
/// are not left yet. Guarded by the lock of [Slabs], but for [#of].
///
/// ```
/// owned --revoke--> revoked --a handshake that started later is over, met()--> met --left--> gone, its slots at home
/// ```
final class Magazines {

    private final Magazine[] stripes;
    private final FreeSlots freeSlots;
    // by the thread's number: threads of a program's own class may be equal
    private final Map<Long, Magazine> owned = new ConcurrentHashMap<>();
    private final Set<Magazine> revoked = new HashSet<>();
    // of those that are revoked now
    private long round = 1;
    // the last round that a handshake has met
    private long met;
    // of magazines that are gone
    private long taken;
    private long missed;

    Magazines(Magazine[] stripes, FreeSlots freeSlots) {
        this.stripes = stripes;
        this.freeSlots = freeSlots;
    }

    /// The magazine of a thread, or null if it has none that may be entered.
    ///
    /// @throws OutOfMemoryError if there is no heap for the look
    @Nullable
    Magazine of(Thread owner) {
        Magazine mine = owned.get(owner.threadId());
        return mine == null || mine.isRevoked() ? null : mine;
    }

    /// Adds a thread's first one, or the one after a revoked one.
    void put(Magazine fresh) {
        owned.put(fresh.key, fresh);
    }

    int owned() {
        return owned.size();
    }

    /// Revokes what did nothing since so many calls: its slots are taken over after a handshake. The caller's own
    /// is emptied at once, and stays.
    ///
    /// @param idleFor 0 for all
    /// @return what to say to [#met] when a handshake that starts after this call is over; 0 without need of one
    long revoke(int idleFor) {
        for (Magazine each : owned.values()) {
            if (each.quietFor() >= idleFor) {
                if (each.isOwnAndLeft()) {
                    unload(each);
                } else {
                    revoke(each);
                }
            }
        }
        for (Magazine shared : stripes) {
            if (shared.quietFor() >= idleFor && shared.bytes() > 0 && shared.tryEnter()) {
                try {
                    unload(shared);
                } finally {
                    shared.exit();
                }
            }
        }
        return unmet();
    }

    /// Revokes all for good.
    ///
    /// @return as [#revoke]
    long revokeForGood() {
        owned.values().forEach(this::revoke);
        for (Magazine each : stripes) {
            if (!each.isRevoked()) {
                revoke(each);
            }
        }
        return unmet();
    }

    private void revoke(Magazine each) {
        revoked.add(each);
        each.round = each.isOwnAndLeft() ? 0 : round;
        each.revoke();
        if (each.owner != null) {
            owned.remove(each.key, each);
        }
    }

    /// Others may have revoked some, and be in the middle of their handshake: this one is for those as well.
    private long unmet() {
        for (Magazine each : revoked) {
            if (each.round > met) {
                return round++;
            }
        }
        return 0;
    }

    /// A handshake is over that started after [#revoke] had said this.
    void met(long said) {
        met = Math.max(met, said);
    }

    /// Brings the slots home of threads that have ended, and of revoked magazines that are left.
    void takeOver() {
        for (Magazine each : owned.values()) {
            Thread owner = each.owner;
            if (owner != null && !owner.isAlive()) {
                // all that the thread did is before this (JLS 17.4.4)
                owned.remove(each.key, each);
                unload(each);
                retireCounts(each);
            }
        }
        revoked.removeIf(this::takeOverIfLeft);
    }

    private boolean takeOverIfLeft(Magazine each) {
        if (each.round > met || !each.isLeft()) {
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
            freeSlots.bring(i, magazine.unload(i));
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
