// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.pool.Depot.Chain;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// All slabs of a source, and what is at home in them: the slow paths, under one lock.
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

    /// Steps of the sweeper in which a magazine is not used before it is emptied: the idle time.
    private static final int QUIET = 4;

    private static final Thread ANY_THREAD = Thread.ofVirtual().unstarted(() -> {});

    private final SlabSource source;
    private final SlabSupplier supplier;
    private final MemoryBudget budget;
    private final Depot[] depots;
    // whole slabs that a device knows: registered already
    private final Depot wholes = new Depot();
    private final Magazine[] stripes;
    private final long idleNanos;
    private final Sweeper sweeper;
    private final Map<Thread, Magazine> magazines = new ConcurrentHashMap<>();
    // volatile: what was done with a slab before it was put is before what its taker does
    private final AtomicReference<@Nullable Slab> emptied = new AtomicReference<>();
    // volatile: seen soon by threads that give back; written under the lock
    private volatile boolean closed;

    // from here on under the lock
    private final Set<Slab> open = new HashSet<>();
    private final Set<Magazine> revoked = new HashSet<>();
    private final @Nullable Slot[] home = new @Nullable Slot[SizeClasses.COUNT];
    private @Nullable Slab current;
    private long currentCarved;
    // empty ones: newest first; without pages; to be ended; not to be used again before the source ends
    private @Nullable Slab idle;
    private @Nullable Slab discarded;
    private @Nullable Slab ending;
    private @Nullable Slab retired;
    private long booked;
    private long taken;
    private long missed;

    Slabs(
            SlabSource source,
            SlabSupplier supplier,
            MemoryBudget budget,
            Depot[] depots,
            Magazine[] stripes,
            long idleNanos) {
        this.source = source;
        this.supplier = supplier;
        this.budget = budget;
        this.depots = depots;
        this.stripes = stripes;
        this.idleNanos = idleNanos;
        this.sweeper = new Sweeper(this::sweep, Math.clamp(idleNanos / 4, 1_000_000, 250_000_000));
    }

    boolean isClosed() {
        return closed;
    }

    synchronized long booked() {
        return booked;
    }

    synchronized int open() {
        absorb();
        return open.size();
    }

    /// A slot that is a whole slab.
    synchronized Slot whole(long byteSize) {
        checkOpen(byteSize);
        if (byteSize > Long.MAX_VALUE - SlabSource.SLAB) {
            throw new IllegalArgumentException("region is too large: byteSize=" + byteSize);
        }
        long bytes = (byteSize + SlabSource.SLAB - 1) / SlabSource.SLAB * SlabSource.SLAB;
        Slot known = takeWhole(bytes);
        if (known != null) {
            return known;
        }
        Slab slab = newSlab(bytes);
        try {
            Slot slot = new Slot(slab, slab.memory.segment(), Slot.WHOLE);
            slab.carved = bytes;
            return slot;
        } catch (Throwable failure) {
            slab.leave();
            throw failure;
        }
    }

    /// One that a device knows already. Those of another size go back behind it.
    private @Nullable Slot takeWhole(long bytes) {
        Slot others = null;
        Slot found = null;
        for (Chain chain = wholes.poll(); chain != null; chain = wholes.poll()) {
            Slot slot = Objects.requireNonNull(chain.first);
            if (slot.byteSize() == bytes) {
                found = slot;
                break;
            }
            slot.next = others;
            others = slot;
        }
        while (others != null) {
            Slot next = others.next;
            others.next = null;
            keepWhole(others);
            others = next;
        }
        return found;
    }

    /// A whole slab that a device knows, for the next one who wants its size; home if there is no heap for that.
    void keepWhole(Slot slot) {
        try {
            // a fresh one: Depot 2
            wholes.put(new Chain().of(slot, 1));
        } catch (OutOfMemoryError noChain) {
            slot.slab.leave();
        }
    }

    /// Asks the devices that alone keep a slab to let go of it. Under no lock.
    ///
    /// @return false if there is no such slab
    boolean askHolders() {
        List<Slab> alone;
        synchronized (this) {
            collectWholes();
            alone = alone(Long.MAX_VALUE);
        }
        alone.forEach(Slab::askHolders);
        return !alone.isEmpty();
    }

    /// Those that devices alone have kept since `before`, or longer.
    private List<Slab> alone(long before) {
        List<Slab> alone = new ArrayList<>();
        long now = System.nanoTime();
        for (Slab each : open) {
            if (!each.isAlone()) {
                each.aloneSince = 0;
                continue;
            }
            if (each.aloneSince == 0) {
                each.aloneSince = now | 1;
            }
            if (before == Long.MAX_VALUE || each.aloneSince - before <= 0) {
                alone.add(each);
            }
        }
        return alone;
    }

    private void collectWholes() {
        for (Chain chain = wholes.poll(); chain != null; chain = wholes.poll()) {
            Objects.requireNonNull(chain.first).slab.leave();
        }
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
        if (!takeHome(sizeClass, chain) && !carve(sizeClass, chain)) {
            // what threads that have ended left behind comes before another slab
            takeOver();
            if (!takeHome(sizeClass, chain)) {
                carveAnother(sizeClass, chain);
            }
        }
        return chain;
    }

    private void carveAnother(int sizeClass, Chain into) {
        try {
            replaceCurrent();
        } catch (MemoryLimitException full) {
            // before the refusal all that other threads kept at hand came home
            if (takeHome(sizeClass, into)) {
                return;
            }
            throw full;
        }
        carve(sizeClass, into);
    }

    /// The magazine of a thread, or null if there can be none.
    @Nullable
    Magazine magazine(Thread owner, long bytes) {
        Magazine mine = magazines.get(owner);
        if (mine != null && !mine.isRevoked()) {
            return mine;
        }
        try {
            Magazine fresh = new Magazine(owner, bytes);
            synchronized (this) {
                if (closed) {
                    return null;
                }
                magazines.put(owner, fresh);
            }
            return fresh;
        } catch (OutOfMemoryError e) {
            // a close must not fail for want of speed
            return null;
        }
    }

    /// Lock-free: the last close of a buffer stands above it.
    void emptied(Slab slab) {
        Slab before;
        do {
            before = emptied.get();
            slab.next = before;
            // volatile: shows the slab with its link
        } while (!emptied.compareAndSet(before, slab));
        if (closed) {
            sweeper.wake();
        }
    }

    void trim() {
        FlightEvents.Trim event = FlightEvents.trimming(booked());
        revokeAll();
        long left;
        synchronized (this) {
            collect();
        }
        askHolders();
        synchronized (this) {
            collect();
            endIdle(System.nanoTime());
            left = booked;
        }
        if (event != null) {
            event.finish(left);
        }
    }

    void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            if (current != null) {
                current.leave();
                current = null;
            }
        }
        revokeAll();
        synchronized (this) {
            collect();
        }
        askHolders();
        synchronized (this) {
            collect();
            endIdle(System.nanoTime());
            if (booked > 0) {
                sweeper.start();
            } else {
                endRetired();
            }
        }
    }

    synchronized boolean awaitNone(long nanos) throws InterruptedException {
        long deadline = System.nanoTime() + nanos;
        while (booked > 0) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            sweeper.wake();
            wait(Math.clamp(left / 1_000_000, 1, 50));
        }
        return true;
    }

    synchronized PoolFigures figures() {
        absorb();
        long cached = 0;
        long hits = taken;
        long misses = missed;
        for (Magazine each : magazines.values()) {
            cached += each.bytes();
            hits += each.taken();
            misses += each.missed();
        }
        for (Magazine each : stripes) {
            cached += each.bytes();
            hits += each.taken();
            misses += each.missed();
        }
        long live = 0;
        long quarantined = 0;
        for (Slab each : open) {
            live += each.carved - each.quarantined();
            quarantined += each.quarantined();
        }
        for (Slot first : home) {
            for (Slot slot = first; slot != null; slot = slot.next) {
                live -= slot.slab.holders() == 0 ? 0 : slot.byteSize();
            }
        }
        cached += wholes.bytes();
        live -= wholes.bytes();
        long empty = 0;
        for (Slab each = idle; each != null; each = each.next) {
            empty += each.byteSize;
        }
        return new PoolFigures(hits, misses, open.size(), magazines.size(), booked, empty, cached, live, quarantined);
    }

    private boolean takeHome(int sizeClass, Chain into) {
        int most = Magazine.slots(sizeClass);
        Slot first = null;
        int count = 0;
        while (home[sizeClass] != null && count < most) {
            Slot slot = home[sizeClass];
            home[sizeClass] = slot.next;
            // a slot of a slab that has come to its end is no slot any more
            if (slot.slab.hold(1)) {
                slot.next = first;
                first = slot;
                count++;
            }
        }
        into.of(first, count);
        return count > 0;
    }

    private void replaceCurrent() {
        Slab fresh = newSlab(SlabSource.SLAB);
        if (current != null) {
            current.leave();
        }
        current = fresh;
    }

    /// @return false if the current slab has no room
    private boolean carve(int sizeClass, Chain into) {
        int bytes = SizeClasses.bytes(sizeClass);
        Slab slab = current;
        if (slab == null || slab.carved + bytes > slab.byteSize) {
            return false;
        }
        int count = (int) Math.min(Magazine.slots(sizeClass), (slab.byteSize - slab.carved) / bytes);
        MemorySegment memory = slab.memory.segment();
        Slot first = null;
        for (int i = count - 1; i >= 0; i--) {
            Slot slot = new Slot(slab, memory.asSlice(slab.carved + (long) i * bytes, bytes), sizeClass);
            slot.next = first;
            first = slot;
        }
        // nothing below can fail: the source holds the slab that it carves
        slab.hold(count);
        slab.carved += (long) count * bytes;
        into.of(first, count);
        return true;
    }

    private Slab newSlab(long bytes) {
        sweeper.start();
        SlabSupplier.Memory memory = takeMemory(bytes);
        try {
            Slab slab = new Slab(source, memory);
            open.add(slab);
            return slab;
        } catch (Throwable failure) {
            // it was not used: gone at once, or with the budget's bytes kept if it cannot be
            memory.end();
            unbookGiven(bytes, false);
            throw failure;
        }
    }

    private SlabSupplier.Memory takeMemory(long bytes) {
        absorb();
        Slab known = takeIdle(bytes);
        if (known == null && !budget.tryTake(bytes)) {
            revokeHere();
            collect();
            known = takeIdle(bytes);
            if (known == null) {
                endIdle(System.nanoTime());
                budget.take(bytes);
            }
        }
        if (known != null) {
            return known.memory;
        }
        booked += bytes;
        known = takeDiscarded(bytes);
        if (known != null) {
            FlightEvents.taken(bytes, true, booked);
            return known.memory;
        }
        try {
            SlabSupplier.Memory memory = checked(supplier.take(bytes), bytes);
            FlightEvents.taken(bytes, false, booked);
            return memory;
        } catch (Throwable failure) {
            unbook(bytes);
            throw failure;
        }
    }

    private SlabSupplier.Memory checked(SlabSupplier.Memory memory, long bytes) {
        MemorySegment segment = memory.segment();
        if (segment.byteSize() != bytes
                || !segment.isNative()
                || segment.isReadOnly()
                || segment.address() % SlabSource.SLAB != 0
                || !segment.isAccessibleBy(ANY_THREAD)) {
            memory.end();
            throw new IllegalStateException("slab supplier gave the wrong memory: supplier="
                    + supplier.getClass().getName() + " wanted=" + bytes + " found=" + segment);
        }
        return memory;
    }

    private @Nullable Slab takeIdle(long bytes) {
        Slab before = null;
        for (Slab each = idle; each != null; before = each, each = each.next) {
            if (each.byteSize == bytes) {
                if (before == null) {
                    idle = each.next;
                } else {
                    before.next = each.next;
                }
                return each;
            }
        }
        return null;
    }

    private @Nullable Slab takeDiscarded(long bytes) {
        Slab before = null;
        for (Slab each = discarded; each != null; before = each, each = each.next) {
            if (each.byteSize == bytes) {
                if (before == null) {
                    discarded = each.next;
                } else {
                    before.next = each.next;
                }
                return each;
            }
        }
        return null;
    }

    /// Takes over the slabs that are empty by now.
    private void absorb() {
        // volatile: what was done with a slab is before this
        Slab each = emptied.getAndSet(null);
        boolean any = each != null;
        long now = System.nanoTime();
        while (each != null) {
            Slab next = each.next;
            open.remove(each);
            if (each.holderCount() > 0) {
                // cannot be: each of them is one of the count; memory that a device may touch is not used again
                throw new AssertionError("slab came to its end with devices: " + each);
            }
            each.emptySince = now;
            if (each.quarantined() > 0) {
                // a raw view may be left: these addresses are not for another buffer
                each.next = ending;
                ending = each;
            } else {
                each.next = idle;
                idle = each;
            }
            each = next;
        }
        if (any) {
            forgetGone();
            endQuarantined();
        }
    }

    /// Slots at home in a slab that has come to its end.
    private void forgetGone() {
        for (int i = 0; i < home.length; i++) {
            Slot kept = null;
            for (Slot slot = home[i]; slot != null; ) {
                Slot next = slot.next;
                if (slot.slab.holders() > 0) {
                    slot.next = kept;
                    kept = slot;
                }
                slot = next;
            }
            home[i] = kept;
        }
    }

    private void endQuarantined() {
        Slab each = ending;
        ending = null;
        while (each != null) {
            Slab next = each.next;
            if (each.memory.discard()) {
                // its addresses stay, and read zeros
                unbookGiven(each.byteSize, true);
                each.next = retired;
                retired = each;
            } else {
                end(each);
            }
            each = next;
        }
    }

    /// Ends the memory, or keeps it to be ended later.
    private void end(Slab slab) {
        try {
            slab.memory.end();
            unbookGiven(slab.byteSize, slab.quarantined() > 0);
        } catch (IllegalStateException notNow) {
            slab.next = ending;
            ending = slab;
        }
    }

    /// Gives back the pages of slabs that are empty since `before`, the oldest first.
    private void endIdle(long before) {
        Slab oldest = null;
        Slab newer = null;
        for (Slab each = idle; each != null; ) {
            Slab next = each.next;
            if (each.emptySince - before <= 0) {
                each.next = oldest;
                oldest = each;
            } else {
                each.next = newer;
                newer = each;
            }
            each = next;
        }
        idle = null;
        for (Slab each = newer; each != null; ) {
            Slab next = each.next;
            each.next = idle;
            idle = each;
            each = next;
        }
        while (oldest != null) {
            Slab next = oldest.next;
            if (!closed && oldest.memory.discard()) {
                unbookGiven(oldest.byteSize, false);
                oldest.next = discarded;
                discarded = oldest;
            } else {
                end(oldest);
            }
            oldest = next;
        }
    }

    private void endRetired() {
        for (int i = 0; i < 2; i++) {
            Slab each = i == 0 ? retired : discarded;
            Slab left = null;
            while (each != null) {
                Slab next = each.next;
                try {
                    each.memory.end();
                } catch (IllegalStateException notNow) {
                    each.next = left;
                    left = each;
                }
                each = next;
            }
            if (i == 0) {
                retired = left;
            } else {
                discarded = left;
            }
        }
    }

    private void unbookGiven(long bytes, boolean escaped) {
        unbook(bytes);
        FlightEvents.givenBack(bytes, escaped, booked);
    }

    private void unbook(long bytes) {
        booked -= bytes;
        budget.give(bytes);
        if (booked == 0) {
            notifyAll();
        }
    }

    /// Everything that is free goes home.
    private void collect() {
        takeOver();
        collectWholes();
        for (int i = 0; i < depots.length; i++) {
            for (Chain chain = depots[i].poll(); chain != null; chain = depots[i].poll()) {
                bringHome(i, chain.first);
            }
        }
        Slab carving = current;
        if (carving != null && isOnlyCarved(carving)) {
            current = null;
            carving.leave();
        }
        absorb();
    }

    /// Held by its source, and by devices if any.
    private static boolean isOnlyCarved(Slab carving) {
        return carving.holders() == 1 + carving.holderCount();
    }

    private void bringHome(int sizeClass, @Nullable Slot first) {
        for (Slot slot = first; slot != null; ) {
            Slot next = slot.next;
            slot.next = home[sizeClass];
            home[sizeClass] = slot;
            slot.slab.leave();
            slot = next;
        }
    }

    private void revokeAll() {
        synchronized (this) {
            mark(0);
        }
        Magazine.handshake();
        synchronized (this) {
            takeOver();
        }
    }

    private void revokeHere() {
        if (mark(0) > 0) {
            Magazine.handshake();
        }
    }

    /// Revokes magazines that did nothing since `idleFor` marks: what they have is taken over after a handshake.
    private int mark(int idleFor) {
        int marked = 0;
        for (Magazine each : magazines.values()) {
            if (each.quietFor() >= idleFor || closed) {
                revoked.add(each);
                each.revoke();
                magazines.remove(each.owner, each);
                marked++;
            }
        }
        if (closed) {
            for (Magazine each : stripes) {
                if (!each.isRevoked()) {
                    revoked.add(each);
                    each.revoke();
                    marked++;
                }
            }
        } else {
            for (int i = 0; i < stripes.length; i++) {
                Magazine shared = stripes[i];
                if (shared.quietFor() >= idleFor && shared.bytes() > 0 && shared.tryEnter()) {
                    try {
                        unload(shared);
                    } finally {
                        shared.exit();
                    }
                }
            }
        }
        return marked;
    }

    /// Takes the slots of revoked magazines, and of threads that have ended.
    private void takeOver() {
        for (Magazine each : magazines.values()) {
            Thread owner = each.owner;
            if (owner != null && !owner.isAlive()) {
                // all that the thread did is before this (JLS 17.4.4)
                magazines.remove(owner, each);
                unload(each);
                retireCounts(each);
            }
        }
        revoked.removeIf(each -> {
            if (!each.isLeft()) {
                return false;
            }
            unload(each);
            if (each.owner != null) {
                retireCounts(each);
            }
            return true;
        });
    }

    private void retireCounts(Magazine each) {
        taken += each.taken();
        missed += each.missed();
    }

    private void unload(Magazine magazine) {
        for (int i = 0; i < SizeClasses.COUNT; i++) {
            bringHome(i, magazine.unload(i));
        }
    }

    /// One step of the source's thread.
    ///
    /// @return false if there is nothing to do until something is carved again
    private boolean sweep() {
        boolean handshake;
        synchronized (this) {
            handshake = mark(QUIET) > 0;
        }
        if (handshake) {
            Magazine.handshake();
        }
        List<Slab> wanted;
        synchronized (this) {
            wanted = alone(closed ? Long.MAX_VALUE : System.nanoTime() - idleNanos);
        }
        wanted.forEach(Slab::askHolders);
        synchronized (this) {
            endQuarantined();
            takeOver();
            if (closed) {
                collect();
                endIdle(System.nanoTime());
            } else {
                for (int i = 0; i < depots.length; i++) {
                    for (int spare = depots[i].spare(); spare > 0; spare--) {
                        Chain chain = depots[i].poll();
                        if (chain != null) {
                            bringHome(i, chain.first);
                        }
                    }
                }
                for (int spare = wholes.spare(); spare > 0; spare--) {
                    Chain chain = wholes.poll();
                    if (chain != null) {
                        Objects.requireNonNull(chain.first).slab.leave();
                    }
                }
                Slab carving = current;
                if (carving != null && carving.carved == currentCarved && isOnlyCarved(carving)) {
                    current = null;
                    carving.leave();
                }
                currentCarved = current == null ? 0 : current.carved;
                absorb();
                endIdle(System.nanoTime() - idleNanos);
            }
            if (booked == 0 && closed) {
                endRetired();
            }
            boolean goesOn = booked > 0 || closed && (retired != null || discarded != null);
            if (!goesOn) {
                sweeper.ended();
            }
            return goesOn;
        }
    }

    private void checkOpen(long requested) {
        if (closed) {
            throw new IllegalStateException(
                    "memory source already closed: requested=" + requested + " slabs=" + open.size());
        }
    }
}
