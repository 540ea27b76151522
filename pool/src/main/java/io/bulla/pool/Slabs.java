// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import io.bulla.refcount.internal.Failures;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// All slabs of a source, and what is at home in them: the slow paths, under one lock, which also guards [Carving],
/// [FreeSlots], [Magazines] and [EmptySlabs].
///
/// ```
/// slab:  carving --full--> out --every slot came home--> empty --used--> another slab, with another id
///                                                          | idle, or closed
///                                                          v
///                                                      given back
/// ```
///
/// A slab that comes to its end is put on a lock-free stack by the thread that gave back the last slot; any thread
/// under the lock takes all of them off. So giving back never waits.
final class Slabs {

    /// Nanoseconds after which a thread that waits for the end wakes the sweeper again.
    private static final long LONGEST_WAIT = 50_000_000;

    private final Slab.Owner owner;
    private final Depot[] depots;
    private final LargeSlabCache largeSlabs = new LargeSlabCache(new Depot());
    private final long idleNanos;
    private final Sweeper sweeper;
    private final FreeSlots freeSlots = new FreeSlots();
    private final Carving carving = new Carving();
    private final Magazines magazines;
    private final EmptySlabs empty;
    // under the lock
    private final Set<Slab> open = new HashSet<>();
    private final Slab.Stack emptied = new Slab.Stack();
    // volatile: seen soon by threads that give back; written under the lock
    private volatile boolean closed;

    Slabs(
            Slab.Owner owner,
            SlabSupplier supplier,
            MemoryBudget budget,
            Depot[] depots,
            Magazine[] stripes,
            long idleNanos,
            Function<BooleanSupplier, Sweeper> sweepers) {
        this.owner = owner;
        this.depots = depots;
        this.idleNanos = idleNanos;
        this.magazines = new Magazines(stripes, freeSlots);
        this.empty = new EmptySlabs(supplier, budget, this::wakeWaiting);
        this.sweeper = sweepers.apply(this::sweep);
    }

    boolean isClosed() {
        return closed;
    }

    synchronized long booked() {
        return empty.booked();
    }

    synchronized int open() {
        absorb();
        return open.size();
    }

    /// A slot that is a whole slab.
    synchronized Slot whole(long byteSize) {
        checkOpen(byteSize);
        if (byteSize > Long.MAX_VALUE - SizeClasses.SLAB) {
            throw new IllegalArgumentException("region is too large: byteSize=" + byteSize);
        }
        long bytes = (byteSize + SizeClasses.SLAB - 1) / SizeClasses.SLAB * SizeClasses.SLAB;
        Slot known = largeSlabs.take(bytes);
        return known == null ? freshWhole(bytes) : known;
    }

    private Slot freshWhole(long bytes) {
        Slot slot = newSlab(bytes);
        slot.slab.carved = bytes;
        return slot;
    }

    /// A whole slab that a device knows, for the next one who wants its size.
    void keepWhole(Slot slot) {
        largeSlabs.keep(slot);
    }

    /// Linked slots of a class, at least one.
    synchronized Chain supply(int sizeClass) {
        checkOpen(SizeClasses.bytes(sizeClass));
        // those that had the lock before have left some: many that wait for it at once need no slab each
        Chain left = depots[sizeClass].poll();
        if (left != null) {
            return left;
        }
        Chain chain = new Chain();
        if (!freeSlots.take(sizeClass, chain) && !carving.carve(sizeClass, chain)) {
            // what threads that have ended left behind comes before another slab
            magazines.takeOver();
            if (!freeSlots.take(sizeClass, chain)) {
                carveAnother(sizeClass, chain);
            }
        }
        return chain;
    }

    private void carveAnother(int sizeClass, Chain into) {
        try {
            carving.goOn(newSlab(SizeClasses.SLAB).slab);
        } catch (MemoryLimitException full) {
            // before the refusal all that other threads kept at hand came home
            if (freeSlots.take(sizeClass, into)) {
                return;
            }
            throw full;
        }
        carving.carve(sizeClass, into);
    }

    /// All of a slab, of which nothing is carved yet.
    private Slot newSlab(long bytes) {
        sweeper.start();
        EmptySlabs.Unused left = new EmptySlabs.Unused(bytes);
        SlabSupplier.Memory memory = takeMemory(bytes);
        try {
            // the supplier may have called back
            checkOpen(bytes);
            Slot all = new Slot(new Slab(owner, memory), memory.segment(), Slot.WHOLE);
            open.add(all.slab);
            return all;
        } catch (Throwable failure) {
            empty.endUnused(memory, left);
            throw failure;
        }
    }

    private SlabSupplier.Memory takeMemory(long bytes) {
        absorb();
        SlabSupplier.Memory idle = empty.takeIdle(bytes);
        if (idle == null && !empty.tryBook(bytes)) {
            collectAllHere();
            idle = empty.takeIdle(bytes);
            if (idle == null) {
                empty.makeRoom(bytes, closed);
            }
        }
        return idle == null ? empty.takeBooked(bytes) : idle;
    }

    /// The magazine of a thread, or null if there can be none.
    @Nullable
    Magazine magazine(Thread owner, long bytes) {
        try {
            Magazine mine = magazines.of(owner);
            if (mine != null) {
                return mine;
            }
            Magazine fresh = new Magazine(owner, bytes);
            synchronized (this) {
                if (closed) {
                    return null;
                }
                magazines.put(fresh);
            }
            return fresh;
        } catch (OutOfMemoryError e) {
            // a close must not fail for want of speed
            return null;
        }
    }

    /// Lock-free: the last close of a buffer stands above it.
    void emptied(Slab slab) {
        emptied.put(slab);
        if (closed) {
            sweeper.wake();
        }
    }

    /// Asks the devices that alone keep a slab to let go of it. Under no lock.
    ///
    /// @return false if there is no such slab
    boolean askHolders() {
        List<Slab> alone;
        synchronized (this) {
            largeSlabs.leave();
            alone = alone(Long.MAX_VALUE);
        }
        alone.forEach(Slab::askHolders);
        return !alone.isEmpty();
    }

    /// Those that devices alone have kept since `before`, or longer.
    private List<Slab> alone(long before) {
        List<Slab> alone = new ArrayList<>();
        for (Slab each : open) {
            if (each.isAloneSince(before)) {
                alone.add(each);
            }
        }
        return alone;
    }

    void trim() {
        FlightEvents.Trim event = FlightEvents.trimming(booked());
        collectAll();
        endIdle(System.nanoTime());
        if (event != null) {
            event.finish(booked());
        }
    }

    void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            carving.leave();
        }
        try {
            collectAll();
            endIdle(System.nanoTime());
        } finally {
            leaveRest();
        }
    }

    private synchronized void leaveRest() {
        if (empty.booked() == 0) {
            empty.endRetired();
        }
        if (empty.booked() != 0 || empty.hasRetired()) {
            sweeper.start();
        }
    }

    synchronized boolean awaitNone(long nanos) throws InterruptedException {
        long deadline = System.nanoTime() + nanos;
        while (empty.booked() != 0) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            // it may not have come up when there was no heap for it
            sweeper.start();
            sweeper.wake();
            TimeUnit.NANOSECONDS.timedWait(this, Math.min(left, LONGEST_WAIT));
        }
        return true;
    }

    private synchronized void wakeWaiting() {
        notifyAll();
    }

    synchronized PoolFigures figures() {
        absorb();
        long live = 0;
        long quarantined = 0;
        for (Slab each : open) {
            live += each.carved - each.quarantined();
            quarantined += each.quarantined();
        }
        long known = largeSlabs.bytes();
        return new PoolFigures(
                magazines.taken(),
                magazines.missed(),
                open.size(),
                magazines.owned(),
                empty.booked(),
                empty.idleBytes(),
                magazines.bytes() + known,
                live - freeSlots.bytes() - known,
                quarantined);
    }

    /// Everything that is free, or that only devices keep, comes home. Under no lock.
    private void collectAll() {
        long revoked;
        synchronized (this) {
            revoked = revoke(0);
        }
        meet(revoked);
        synchronized (this) {
            collect();
        }
        askHolders();
        synchronized (this) {
            collect();
        }
    }

    /// Everything that is free comes home, under the lock.
    private void collectAllHere() {
        meet(revoke(0));
        collect();
    }

    /// @return what to [#meet]
    private long revoke(int idleFor) {
        return closed ? magazines.revokeForGood() : magazines.revoke(idleFor);
    }

    private void meet(long revoked) {
        if (revoked != 0) {
            Magazine.handshake();
            synchronized (this) {
                magazines.met(revoked);
            }
        }
    }

    private void collect() {
        magazines.takeOver();
        largeSlabs.leave();
        for (int i = 0; i < depots.length; i++) {
            for (Chain chain = depots[i].poll(); chain != null; chain = depots[i].poll()) {
                freeSlots.bring(i, chain.first);
            }
        }
        carving.leaveUnused();
        absorb();
    }

    /// What was not needed since the last step comes home.
    private void collectSpare() {
        for (int i = 0; i < depots.length; i++) {
            for (int spare = depots[i].spare(); spare > 0; spare--) {
                Chain chain = depots[i].poll();
                if (chain != null) {
                    freeSlots.bring(i, chain.first);
                }
            }
        }
        largeSlabs.leaveSpare();
        carving.leaveUnusedIfQuiet();
        absorb();
    }

    /// Gives back slabs that are empty since `before`. Under no lock: each may be a handshake with every thread, so
    /// other threads have their turn between two.
    private void endIdle(long before) {
        synchronized (this) {
            empty.endQuarantined();
            empty.letGoIdle(before);
        }
        while (endOne()) {
            Thread.yield();
        }
        throwFailure();
    }

    /// Tells what could not be given back, and is tried again.
    private void throwFailure() {
        Throwable failure;
        synchronized (this) {
            failure = empty.takeFailure();
        }
        Failures.rethrow(failure);
    }

    private synchronized boolean endOne() {
        return empty.endOne(closed);
    }

    /// Takes over the slabs that are empty by now.
    private void absorb() {
        Slab each = emptied.poll();
        if (each == null) {
            return;
        }
        long now = System.nanoTime();
        for (; each != null; each = emptied.poll()) {
            open.remove(each);
            if (each.isHeldByDevices()) {
                // cannot be: each of them is one of the count; memory that a device may touch is not used again
                throw new AssertionError("slab came to its end with devices: " + each);
            }
            empty.put(each, now);
        }
        freeSlots.forgetGone();
        empty.endQuarantined();
    }

    /// One step of the source's thread.
    ///
    /// @return false if there is nothing to do until something is carved again
    private boolean sweep() {
        long revoked;
        synchronized (this) {
            revoked = revoke(Sweeper.STEPS);
        }
        meet(revoked);
        List<Slab> wanted;
        synchronized (this) {
            wanted = alone(closed ? Long.MAX_VALUE : System.nanoTime() - idleNanos);
        }
        wanted.forEach(Slab::askHolders);
        synchronized (this) {
            magazines.takeOver();
            if (closed) {
                collect();
            } else {
                collectSpare();
            }
        }
        endIdle(closed ? System.nanoTime() : System.nanoTime() - idleNanos);
        boolean goesOn;
        synchronized (this) {
            goesOn = goesOn();
        }
        throwFailure();
        if (closed) {
            owner.heldAfterTheEnd(open());
        }
        return goesOn;
    }

    private boolean goesOn() {
        if (empty.booked() == 0 && closed) {
            empty.endRetired();
        }
        boolean goesOn = empty.booked() != 0 || closed && empty.hasRetired();
        if (!goesOn) {
            sweeper.ended();
        }
        return goesOn;
    }

    private void checkOpen(long requested) {
        if (closed) {
            throw new IllegalStateException(
                    "memory source already closed: requested=" + requested + " slabs=" + open.size());
        }
    }
}
