// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.pool.Depot.Chain;
import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// Slots that one platform thread keeps at hand, or that virtual threads share: two lists per class, so that a list
/// that is full goes to the depot in one step.
///
/// ```
/// free --enter--> busy --exit--> free        by the owner, or for a shared one by the thread whose step succeeds
/// free --revoke--> revoked                   final: its slots belong to the thread that revoked it
/// ```
///
/// Ordering
/// 1. **The owner enters without an atomic step.** It says `busy`, then looks for `revoked`. A thread that wants
///    the slots says `revoked`, then has a handshake with every thread (the close of a shared arena), then looks
///    for `busy`. After the handshake the owner has either said `busy` before it, which is seen, or looks after it,
///    and finds `revoked`. *HotSpot*: a handshake stops each thread between two of its instructions, and is a full
///    fence for both; where the virtual machine is another one, no magazine has an owner.
/// 2. **A shared one is a lock that is only tried.** Who does not get it goes to the next, then to the depot.
/// 3. **What the last user did is met.** Exit is a release of `busy`, which the revoking thread, or the next user
///    of a shared one, acquires. The slots of a thread that has ended are met by `Thread.isAlive` (JLS 17.4.4).
final class Magazine {

    /// Bytes of a list.
    static final int LIST_BYTES = 64 << 10;

    private static final int MOST_SLOTS = 64;
    private static final int[] FULL = new int[SizeClasses.COUNT];
    private static final VarHandle BUSY;
    private static final VarHandle REVOKED;

    static {
        try {
            BUSY = MethodHandles.lookup().findVarHandle(Magazine.class, "busy", int.class);
            REVOKED = MethodHandles.lookup().findVarHandle(Magazine.class, "revoked", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
        for (int i = 0; i < FULL.length; i++) {
            FULL[i] = Math.clamp(LIST_BYTES / SizeClasses.bytes(i), 1, MOST_SLOTS);
        }
    }

    /// Null for a shared one.
    final @Nullable Thread owner;

    private final long mostBytes;
    // through BUSY and REVOKED only
    private int busy;
    private boolean revoked;
    // the user's between enter and exit
    private final @Nullable Slot[] lists = new @Nullable Slot[SizeClasses.COUNT];
    private final @Nullable Slot[] spares = new @Nullable Slot[SizeClasses.COUNT];
    private final int[] counts = new int[SizeClasses.COUNT];
    private final int[] spareCounts = new int[SizeClasses.COUNT];
    private long bytes;
    // plain: written by the user, read by reports and by the trimmer, for which a stale value will do
    private long taken;
    private long missed;
    private long given;
    // the trimmer's
    private long seen;
    private int quiet;

    Magazine(@Nullable Thread owner, long mostBytes) {
        this.owner = owner;
        this.mostBytes = mostBytes;
    }

    /// How many slots a list of a class has when it is full.
    static int slots(int sizeClass) {
        return FULL[sizeClass];
    }

    /// @return false if it was revoked, or a shared one is in use
    boolean tryEnter() {
        if (owner == null) {
            // volatile: ordering 2
            if (!BUSY.compareAndSet(this, 0, 1)) {
                return false;
            }
        } else {
            // opaque: ordering 1, the handshake is the fence
            BUSY.setOpaque(this, 1);
        }
        // opaque: ordering 1
        if ((boolean) REVOKED.getOpaque(this)) {
            exit();
            return false;
        }
        return true;
    }

    void exit() {
        // release: ordering 3
        BUSY.setRelease(this, 0);
    }

    boolean isRevoked() {
        // opaque: final once true, and nothing hangs on seeing it late
        return (boolean) REVOKED.getOpaque(this);
    }

    /// Tells the owner to keep out from now on.
    void revoke() {
        // volatile: ordering 1, before the handshake
        REVOKED.setVolatile(this, true);
    }

    /// Whether a revoked magazine is left: its slots are the caller's then. After a [#handshake()].
    boolean isLeft() {
        // acquire: orderings 1 and 3
        return (int) BUSY.getAcquire(this) == 0;
    }

    /// A full fence in every thread.
    static void handshake() {
        Arena.ofShared().close();
    }

    /// @return null if it has none of the class
    @Nullable
    Slot take(int sizeClass) {
        Slot slot = lists[sizeClass];
        if (slot == null) {
            slot = spares[sizeClass];
            if (slot == null) {
                missed++;
                return null;
            }
            counts[sizeClass] = spareCounts[sizeClass];
            spares[sizeClass] = null;
            spareCounts[sizeClass] = 0;
        }
        lists[sizeClass] = slot.next;
        counts[sizeClass]--;
        bytes -= slot.byteSize();
        taken++;
        return slot;
    }

    /// Gives a slot to a list that is not full.
    ///
    /// @return false if [#hasRoom] has to be asked
    boolean tryGive(Slot slot) {
        int sizeClass = slot.sizeClass;
        int count = counts[sizeClass];
        if (count >= FULL[sizeClass] || bytes >= mostBytes) {
            return false;
        }
        slot.next = lists[sizeClass];
        lists[sizeClass] = slot;
        counts[sizeClass] = count + 1;
        bytes += slot.byteSize;
        given++;
        return true;
    }

    /// Tells whether a slot may be given: else a list has to go first, by [#spill].
    boolean hasRoom(int sizeClass) {
        return counts[sizeClass] < slots(sizeClass) && bytes < mostBytes
                || counts[sizeClass] == 0
                || spares[sizeClass] == null && bytes < mostBytes;
    }

    void give(Slot slot) {
        int sizeClass = slot.sizeClass;
        if (counts[sizeClass] >= slots(sizeClass) && spares[sizeClass] == null) {
            spares[sizeClass] = lists[sizeClass];
            spareCounts[sizeClass] = counts[sizeClass];
            lists[sizeClass] = null;
            counts[sizeClass] = 0;
        }
        slot.next = lists[sizeClass];
        lists[sizeClass] = slot;
        counts[sizeClass]++;
        bytes += slot.byteSize();
        given++;
    }

    /// Moves a list into a chain, for the depot: the spare one, or the only one.
    Chain spill(int sizeClass, Chain into) {
        if (spares[sizeClass] != null) {
            into.of(spares[sizeClass], spareCounts[sizeClass]);
            spares[sizeClass] = null;
            spareCounts[sizeClass] = 0;
        } else {
            into.of(lists[sizeClass], counts[sizeClass]);
            lists[sizeClass] = null;
            counts[sizeClass] = 0;
        }
        bytes -= (long) into.count * SizeClasses.bytes(sizeClass);
        return into;
    }

    boolean isEmpty(int sizeClass) {
        return lists[sizeClass] == null && spares[sizeClass] == null;
    }

    /// Takes over linked slots of a class of which there is none.
    void load(int sizeClass, Slot first, int count) {
        lists[sizeClass] = first;
        counts[sizeClass] = count;
        bytes += (long) count * SizeClasses.bytes(sizeClass);
    }

    /// The first of all slots of a class, linked; the magazine has none of them any more.
    @Nullable
    Slot unload(int sizeClass) {
        Slot first = lists[sizeClass];
        Slot behind = spares[sizeClass];
        bytes -= (long) (counts[sizeClass] + spareCounts[sizeClass]) * SizeClasses.bytes(sizeClass);
        lists[sizeClass] = null;
        spares[sizeClass] = null;
        counts[sizeClass] = 0;
        spareCounts[sizeClass] = 0;
        if (first == null) {
            return behind;
        }
        Slot last = first;
        while (last.next != null) {
            last = last.next;
        }
        last.next = behind;
        return first;
    }

    long bytes() {
        return bytes;
    }

    /// How many calls of this one in a row found that nothing was taken or given. For the trimmer alone.
    int quietFor() {
        long now = taken + given;
        quiet = now == seen ? quiet + 1 : 0;
        seen = now;
        return quiet;
    }

    long taken() {
        return taken;
    }

    long missed() {
        return missed;
    }

    long given() {
        return given;
    }
}
