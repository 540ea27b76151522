// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// Slots that one platform thread keeps at hand, or that virtual threads share: a [SlotStack] per class, from which a
/// list goes to the depot in one step when it is full.
///
/// Bytes are bounded by what stacks may hold, not by what they hold: a stack asks only when it has used up its
/// room, and what the others do not use is taken from them then.
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

    /// The owner's number, which no other thread of the process has before or after; 0 for a shared one.
    final Long key;

    private final long mostBytes;
    // through BUSY and REVOKED only
    private int busy;
    private boolean revoked;
    // the user's between enter and exit
    private final SlotStack[] stacks = new SlotStack[SizeClasses.COUNT];
    // what all stacks may hold
    private long roomBytes;
    // plain: written by the user, read by reports and by the trimmer, for which a stale value will do
    private long taken;
    private long missed;
    private long given;
    // the trimmer's
    private long seen;
    private int quiet;
    /// When it was revoked: guarded by the lock of [Slabs].
    long round;

    Magazine(@Nullable Thread owner, long mostBytes) {
        this.owner = owner;
        this.key = owner == null ? 0L : owner.threadId();
        this.mostBytes = mostBytes;
        for (int i = 0; i < stacks.length; i++) {
            stacks[i] = new SlotStack();
        }
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

    /// Whether the caller is the owner, and not in the middle of a call: its slots are the caller's, without a
    /// handshake.
    boolean isOwnAndLeft() {
        return owner == Thread.currentThread() && isLeft();
    }

    /// A full fence in every thread.
    static void handshake() {
        Arena.ofShared().close();
    }

    /// @return null if it has none of the class
    @Nullable
    Slot take(int sizeClass) {
        Slot slot = stacks[sizeClass].poll();
        if (slot == null) {
            missed++;
        } else {
            taken++;
        }
        return slot;
    }

    /// Gives a slot to a stack with room.
    ///
    /// @return false if [#hasRoom] has to be asked
    boolean tryGive(Slot slot) {
        if (!stacks[slot.sizeClass].tryPush(slot)) {
            return false;
        }
        given++;
        return true;
    }

    /// Tells whether a slot may be given, for which it makes room: else a list has to go first, by [#spill].
    boolean hasRoom(int sizeClass) {
        SlotStack stack = stacks[sizeClass];
        if (stack.hasRoom() || stack.isEmpty()) {
            return true;
        }
        if (grant(sizeClass)) {
            return true;
        }
        takeRoomBack();
        return grant(sizeClass);
    }

    /// Room for another list at most, and for two in all; its last slot may go beyond the bytes.
    private boolean grant(int sizeClass) {
        SlotStack stack = stacks[sizeClass];
        int list = slots(sizeClass);
        long left = Math.ceilDiv(mostBytes - roomBytes, SizeClasses.bytes(sizeClass));
        int more = (int) Math.min(Math.min(list, 2 * list - stack.room()), left);
        if (more < 1) {
            return false;
        }
        addRoom(sizeClass, more);
        return true;
    }

    private void addRoom(int sizeClass, int slots) {
        roomBytes += (long) slots * SizeClasses.bytes(sizeClass);
        stacks[sizeClass].addRoom(slots);
    }

    private void takeRoomBack() {
        roomBytes = 0;
        for (int i = 0; i < stacks.length; i++) {
            stacks[i].closeRoom();
            roomBytes += (long) stacks[i].room() * SizeClasses.bytes(i);
        }
    }

    /// Gives a slot, room or not, up to twice a list.
    ///
    /// @throws OutOfMemoryError if there is no heap for the stack; the slot is the caller's still
    void give(Slot slot) {
        int sizeClass = slot.sizeClass;
        prepare(sizeClass);
        makeRoom(sizeClass, stacks[sizeClass].size() + 1);
        tryGive(slot);
    }

    /// Room that is needed, whatever the bytes are.
    private void makeRoom(int sizeClass, int slots) {
        int more = slots - stacks[sizeClass].room();
        if (more > 0) {
            addRoom(sizeClass, more);
        }
    }

    /// Makes a stack that can be given to.
    ///
    /// @throws OutOfMemoryError if there is no heap for it
    void prepare(int sizeClass) {
        stacks[sizeClass].prepare(2 * slots(sizeClass));
    }

    /// Moves a list into a chain, for the depot: the slots that were given first.
    Chain spill(int sizeClass, Chain into) {
        return stacks[sizeClass].moveInto(into, slots(sizeClass));
    }

    boolean isEmpty(int sizeClass) {
        return stacks[sizeClass].isEmpty();
    }

    /// Takes over linked slots of a class of which there is none, into a stack that can be given to ([#prepare]).
    void load(int sizeClass, Slot first, int count) {
        makeRoom(sizeClass, count);
        stacks[sizeClass].load(first, count);
    }

    /// The first of all slots of a class, linked; the magazine has none of them any more.
    @Nullable
    Slot unload(int sizeClass) {
        SlotStack stack = stacks[sizeClass];
        roomBytes -= (long) stack.room() * SizeClasses.bytes(sizeClass);
        return stack.unload();
    }

    /// Of what is at hand: a guess while another thread uses it.
    long bytes() {
        long bytes = 0;
        for (int i = 0; i < stacks.length; i++) {
            bytes += (long) stacks[i].size() * SizeClasses.bytes(i);
        }
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
}
