// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Counts the holders of one resource; the last to leave frees it.
///
/// State, one `long`, even while the resource lives, odd for ever after:
///
/// ```
/// held(n) = 2n --retain(k)--> held(n + k)      held(n) --release--> held(n - 1)
/// held(1)      --release--> freed = 1, when no thread steps between
/// held(0) = 0  --by the thread that came to 0--> freed = 1, or nothing if another retained meanwhile, who comes to 0
/// later
/// freed   = odd: a retain that meets it fails and undoes itself; freed is final
///
/// held(1)      --close of the sole lease--> freed = 1, by a plain write, where leases alone hold (ordering 5)
/// ```
///
/// A count that threads fight over is *striped* (see [Stripes]): part of its holders move to cells, each on a
/// cache line of its own, and each cell is one huge holder of this word until it is folded back:
///
/// ```
/// held(n) --stripe--> held(n - c * q + c * BIAS), c cells of q holders    own = n - c * q, at least 1
/// retain, release      in a cell, as long as one is open and has holders; else here
/// own comes to 0       the thread that brought it there folds every cell: held(m) --fold--> held(m + v - BIAS)
/// ```
///
/// A release that finds the word changed between its look and its step has met another thread: it stripes, if
/// there are holders left to be spread. An uncontended count is one word, and pays one load and one
/// compare.
///
/// Ordering
/// 1. **All use comes before the free.** Every release is a release, in a cell too; a fold acquires from its cell
///    and releases into this word; the step to freed acquires.
/// 2. **Retain orders nothing.** Its caller holds a claim; if that claim is being closed by another thread,
///    parity (or the folded cell) tells retain that it lost.
/// 3. **One thread frees.** The step to freed is a compare-and-set from no holder at all. A decrement to zero
///    alone is no reason to free: a late retain may have made it one again, and come back to zero.
/// 4. **Cells cannot hide the end.** While this word keeps a holder of its own, the resource is held, whatever the
///    cells say. The thread that takes the last of them away folds; one that stripes looks again after showing the
///    cells. Full fences stand between each one's write and its look, so that at least one of them sees the other.
///
/// 5. **A sole lease needs no step of the count.** Where leases alone hold the resource ([#heldByLeasesOnly]): a
///    thread that closes a lease ends it first, then looks at the word; a thread that shares one adds to the word
///    first, then looks at the lease. All four are volatile, so they are in one order. If the closer looks first and
///    finds one holder, every sharer that adds later finds its lease ended, and takes back what it added. So the
///    closer may free, and write the word without an atomic step. If it finds more, it takes itself away as ever.
///
/// No step waits for another thread: one that is suspended half-way through a fold or a striping delays the
/// free, and blocks no other.
///
/// The count is 64 bits wide: a claim is an object, so it cannot overflow before the heap does.
public abstract class RefCount {

    private static final long ONE = 2;
    private static final long FREED = 1;
    private static final long STRIPED = Stripes.STRIPED;
    private static final VarHandle STATE;
    private static final VarHandle STRIPES;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(RefCount.class, "state", long.class);
            STRIPES = MethodHandles.lookup().findVarHandle(RefCount.class, "stripes", Stripes.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // both through their VarHandles only, after construction
    private long state = ONE;
    private @Nullable Stripes stripes;
    private final @Nullable LeaseTrace trace;

    /// A resource with one holder: the [Lease] constructed on this count next.
    ///
    /// @param trace told of every lease on this resource as it opens and closes, or `null` for none
    protected RefCount(@Nullable LeaseTrace trace) {
        this.trace = trace;
    }

    /// A resource with many holders from the start, whose owner takes away those that it did not need.
    ///
    /// @param trace as in [#RefCount(LeaseTrace)]
    /// @param holders at least 1
    protected RefCount(@Nullable LeaseTrace trace, int holders) {
        this.trace = trace;
        this.state = ONE * holders;
    }

    /// Frees the resource. Called once, by the thread that closes the last lease, after all use of the resource.
    ///
    /// It must not block: a reader's `close()` stands on the stack.
    protected abstract void free();

    /// How large the resource is, in its own unit (bytes for memory): what a [LeaseTrace] reports as held.
    ///
    /// @return 0 unless the resource says otherwise
    protected long size() {
        return 0;
    }

    /// Whether leases alone hold the resource: no code calls [#retain(int)] or [#release()] of this count but its
    /// leases. Then the close of a lease that is the only one costs one atomic step in place of two.
    ///
    /// @return always the same; false unless the resource says otherwise
    protected boolean heldByLeasesOnly() {
        return false;
    }

    /// Who is told of the leases on this resource.
    ///
    /// @return the listener given at construction, or `null`
    public final @Nullable LeaseTrace trace() {
        return trace;
    }

    /// The listener that kept something of a lease on this count.
    final LeaseTrace listener() {
        return Objects.requireNonNull(trace, "trace");
    }

    /// Adds `k` holders, or none when the resource is freed. For the resource itself.
    ///
    /// @param k at least 0
    /// @return false if the resource is freed
    /// @throws IllegalStateException if leases alone hold the resource
    protected final boolean retain(int k) {
        if (heldByLeasesOnly()) {
            throw new IllegalStateException("resource is held by leases only: type="
                    + getClass().getSimpleName() + " holders=" + holders() + " retained=" + k);
        }
        return add(k);
    }

    /// Adds `k` holders, which are leases.
    ///
    /// @param claim the lease that is shared; another thread may be closing it
    /// @return false if the resource is freed, or may be because the claim has ended
    final boolean retain(int k, Lease claim) {
        if (!add(k)) {
            return false;
        }
        if (!heldByLeasesOnly() || claim.isOpenInOrder()) {
            return true;
        }
        // ordering 5: they go again, and may be the last to; freed is odd, and stays so
        release(k);
        return false;
    }

    private boolean add(int k) {
        // opaque: a guess; holders may be added here even though there are cells
        if ((long) STATE.getOpaque(this) >= STRIPED) {
            @Nullable Stripes cells = cells();
            int left = cells == null ? k : cells.add(home(), k);
            return left == 0 || retainHere(left);
        }
        return retainHere(k);
    }

    /// Takes one holder away; frees the resource with the last. For the resource itself: code that calls it gives up
    /// a claim of its own.
    protected final void release() {
        // opaque: a guess, to notice whether another thread steps between; and holders may be taken away here even
        // though there are cells
        releaseFrom((long) STATE.getOpaque(this));
    }

    /// Takes away the holder whose lease the caller has ended, by a volatile exchange; frees the resource with the
    /// last.
    final void releaseEnded() {
        // volatile: ordering 5, and 1: the use by those who left before is above this line
        long seen = (long) STATE.getVolatile(this);
        if (seen == ONE && heldByLeasesOnly()) {
            // opaque: ordering 5, what others add from now on they find to be late by their own look
            STATE.setOpaque(this, FREED);
            free();
        } else {
            releaseFrom(seen);
        }
    }

    private void releaseFrom(long seen) {
        if (seen == ONE && isLast()) {
            free();
        } else if (seen >= STRIPED) {
            releaseStriped(seen);
        } else {
            releaseHere(seen);
        }
    }

    /// Takes `k` holders away in one step; frees the resource with the last. As [#release()].
    ///
    /// @param k at most the caller's claims
    protected final void release(int k) {
        addHere(-k);
    }

    /// How many hold the resource at this moment: a snapshot for reports and tests, exact while no thread shares or
    /// closes.
    ///
    /// @return the number of open leases, 0 when freed
    public final long holders() {
        // opaque: a snapshot promises nothing about any other memory
        long now = (long) STATE.getOpaque(this);
        @Nullable Stripes cells = cells();
        return isFreed(now) ? 0 : Stripes.own(now) + (cells == null ? 0 : cells.holders());
    }

    /// Whether the count is spread over cells at this moment: a snapshot, true between a striping and the end of its
    /// fold.
    final boolean isStriped() {
        // opaque: a snapshot
        return isStriped((long) STATE.getOpaque(this));
    }

    /// Which cell the calling thread prefers; any number will do.
    int home() {
        return (int) Thread.currentThread().threadId();
    }

    /// How many cells to stripe over: a power of two.
    int cellCount() {
        return Stripes.CELLS;
    }

    /// Folds one cell.
    ///
    /// @param holders those that come back, less the bias that goes
    final void unstripe(long holders) {
        addHere(holders);
    }

    private @Nullable Stripes cells() {
        // acquire: who meets fresh cells meets the holders that were moved there; a stale reference reaches cells
        // that are folded, and say so
        return (Stripes) STRIPES.getAcquire(this);
    }

    private boolean retainHere(int k) {
        // volatile (getAndAdd is one instruction, its weaker forms are loops on JDK 25): ordering 2 needs none of it
        long before = (long) STATE.getAndAdd(this, ONE * k);
        if (!isFreed(before)) {
            return true;
        }
        // volatile: same instruction; odd plus even stays odd, so a retain in between fails as well (ordering 3)
        STATE.getAndAdd(this, -ONE * k);
        return false;
    }

    /// Both steps of the last holder in one: away, and freed.
    private boolean isLast() {
        // volatile: orderings 1 and 3, as in settle
        return STATE.compareAndSet(this, ONE, FREED);
    }

    private void releaseStriped(long seen) {
        @Nullable Stripes cells = cells();
        if (cells == null || !cells.take(home())) {
            releaseHere(seen);
        }
    }

    private void releaseHere(long seen) {
        // volatile (getAndAdd is one instruction): ordering 1, this holder's use is above this line
        long before = (long) STATE.getAndAdd(this, -ONE);
        if (before != seen || before <= ONE || before >= STRIPED) {
            afterRelease(before, before != seen);
        }
    }

    private void afterRelease(long before, boolean contended) {
        if (isFreed(before) || before <= 0) {
            // volatile: as in retainHere
            STATE.getAndAdd(this, ONE);
            throw overReleased(before);
        }
        settle(before - ONE);
        if (contended && Stripes.isWorthIt(before - ONE)) {
            stripe();
        }
    }

    private void addHere(long holders) {
        // volatile: ordering 1, the use by the holders of a folded cell, acquired from it, is above this line
        settle((long) STATE.getAndAdd(this, ONE * holders) + ONE * holders);
    }

    /// The duty of the thread that brought the word to `after`: to free it at the end, to fold the cells at the edge.
    private void settle(long after) {
        if (after == 0) {
            // volatile: ordering 1, every holder's use is above this line; ordering 3, from no holder, once
            if (STATE.compareAndSet(this, 0L, FREED)) {
                free();
            }
        } else if (after >= STRIPED) {
            foldIfLast(after);
        }
    }

    private void foldIfLast(long after) {
        if (Stripes.own(after) < 1) {
            // full: ordering 4, the count of this word is written before the cells are looked for
            VarHandle.fullFence();
            fold();
        }
    }

    private void fold() {
        // ordering 4 has its fences
        @Nullable Stripes cells = cells();
        if (cells != null && cells.isLive()) {
            cells.fold(this);
            // volatile: the winner gives the cells back to the cap, once; nothing hangs on its order
            if (STRIPES.compareAndSet(this, cells, cells.spent())) {
                cells.drop();
            }
        }
    }

    /// Spreads the count over cells, unless it is spread already, freed, or was too often; or the cap forbids it.
    final void stripe() {
        // stale ones only make cells of an earlier round
        @Nullable Stripes old = cells();
        if (isStriped() || old != null && !old.mayFollow()) {
            return;
        }
        Stripes fresh = Stripes.tryCreate(old, cellCount());
        if (fresh == null) {
            return;
        }
        while (true) {
            // opaque: only a guess for the compare-and-set below
            long before = (long) STATE.getOpaque(this);
            if (isFreed(before) || isStriped(before) || !Stripes.isWorthIt(before)) {
                fresh.drop();
                return;
            }
            long moved = fresh.fill(Stripes.own(before) - 1);
            // release: nothing hangs on its order; the cells are published below
            if (STATE.weakCompareAndSetRelease(this, before, before + ONE * fresh.biasLess(moved))) {
                show(fresh);
                return;
            }
        }
    }

    private void show(Stripes fresh) {
        // volatile: publishes the cells' content; takes the place of folded cells whose folder is late
        Stripes late = (Stripes) STRIPES.getAndSet(this, fresh);
        if (late != null) {
            late.drop();
        }
        // full: ordering 4, the cells are shown before this word is looked at again
        VarHandle.fullFence();
        lookAgain();
    }

    /// Folds cells that were shown only after the word's last own holder had looked for them.
    void lookAgain() {
        // opaque: ordering 4, looked at after the fence
        long now = (long) STATE.getOpaque(this);
        if (isStriped(now)) {
            foldIfLast(now);
        }
    }

    private static boolean isFreed(long state) {
        return (state & FREED) != 0;
    }

    private static boolean isStriped(long state) {
        return state >= STRIPED;
    }

    private static IllegalStateException overReleased(long state) {
        return new IllegalStateException("released more often than retained: state=" + state);
    }
}
