// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.registration;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.Slab;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.Ending;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.Registrar;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.pool.device.Traits;
import io.bulla.refcount.LeaseTrace;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// What one device knows of the memory of slabs: a cache for sends, and the keys that peers have.
///
/// ```java
/// try (Use use = registrations.use(message, 0)) {
///     if (use == null) {
///         // the plain way: foreign memory, no budget, or a device that refused; lastRefusal() says why
///     } else {
///         // an operation that names use.key(), and ends before use is closed
///     }
/// }
/// ```
///
/// A lookup begins at the buffer: its stamp leads to its slab, and a field of the slab to the registration. No
/// address is ever a key, no function of another library is patched, and no lock is held while the device is
/// called. Each registration is one of its slab's holders, so a slab that a device knows is not given back or
/// used for another one. Idle ones are taken back for room, the longest unused first, and when the slab is
/// wanted; those in use never.
public final class Registrations implements AutoCloseable {

    private static final long SHORTEST_PAUSE = 1_000_000;
    private static final long LONGEST_PAUSE = 1_000_000_000;

    private final Registrar registrar;
    private final Traits traits;
    private final PinBudget budget;
    private final LongSupplier clock;
    private final @Nullable LeaseTrace trace;
    // under the lock, as all below; no device is called under it
    private final Object lock = new Object();
    private final Marks all = new Marks();
    // of a device that makes them up; those of this process are given out once
    private final KeysInUse keys = new KeysInUse();
    private int waiting;
    private long bytes;
    private long registered;
    private long granted;
    private long evicted;
    private long refused;
    private long surprises;
    private @Nullable String refusal;
    private long pause = SHORTEST_PAUSE;
    private long pausesUntil;
    private boolean closed;
    private boolean ended;
    private long trimmedAt;
    // plain for its readers: a round that is stale makes the order of eviction a little worse
    private long tick;

    private Registrations(Registrar registrar, PinBudget budget, LongSupplier clock, @Nullable LeaseTrace trace) {
        this.trace = trace;
        this.registrar = Objects.requireNonNull(registrar, "registrar");
        this.traits = registrar.traits();
        this.budget = Objects.requireNonNull(budget, "budget");
        this.clock = clock;
        this.pausesUntil = clock.getAsLong();
    }

    /// The registrations of a device. The device is closed with them.
    ///
    /// @param registrar used by these alone
    /// @param budget booked before the device is asked, if it pins; may be that of several devices
    /// @return none yet
    public static Registrations of(Registrar registrar, PinBudget budget) {
        return new Registrations(registrar, budget, System::nanoTime, null);
    }

    /// The registrations of a device, of which a ledger lists each mark as a lease: who pins what, since
    /// when, for which peer. With a [io.bulla.refcount.LeaseLedger] as the trace of memory too, one list
    /// has handles and pins.
    ///
    /// @param registrar used by these alone
    /// @param budget as of [#of(Registrar, PinBudget)]
    /// @param trace told when a device gets to know memory, and when it can no longer touch it; sizes are
    ///     bytes
    /// @return none yet
    public static Registrations of(Registrar registrar, PinBudget budget, LeaseTrace trace) {
        return new Registrations(registrar, budget, System::nanoTime, Objects.requireNonNull(trace, "trace"));
    }

    /// @param clock in nanoseconds
    static Registrations of(Registrar registrar, PinBudget budget, LongSupplier clock) {
        return new Registrations(registrar, budget, clock, null);
    }

    /// What the device can do.
    ///
    /// @return the same each time
    public Traits traits() {
        return traits;
    }

    /// Begins an operation of this process on registered memory. The first one on a slab registers all of it.
    ///
    /// @param buffer open until the operation is over
    /// @param region which of its regions
    /// @return closed by the caller when the operation is over; `null` if there is no registration: the caller
    ///     takes a path that needs none, and [#lastRefusal()] may say why
    /// @throws IndexOutOfBoundsException if there is no such region
    /// @throws IllegalStateException if the buffer is closed
    public @Nullable Use use(SealedBuffer buffer, int region) {
        Slab slab = Slab.of(buffer.iovec(), region);
        if (slab == null) {
            // foreign memory: what ends it cannot be told
            return null;
        }
        Slab.Holder found = slab.holder(this);
        return found == null ? register(slab) : ((Registration) found).use();
    }

    /// Takes memory that peers can write to.
    ///
    /// @param memory whose slabs the device can know
    /// @param byteSize at least 1
    /// @return without a grant yet
    /// @throws IllegalArgumentException if `byteSize` is less than 1, or the source uses no memory again: it
    ///     has no slabs
    /// @throws io.bulla.buffer.MemoryLimitException if the memory's budget forbids it
    /// @throws IllegalStateException if the memory's source, or this, is closed
    public Landing landing(SlabSource memory, long byteSize) {
        checkOpen();
        return Landing.take(this, memory, byteSize);
    }

    /// Ends every grant of a peer, whatever it does: no new access first, for all of them. To be called before a
    /// listener hears that the peer has failed, so that it knows what memory it may use.
    ///
    /// @param peer that failed
    /// @param patience how long to wait until the device has stopped, for all grants together
    /// @return what became of each grant that was not fenced yet
    public List<Revocation> revoke(Peer peer, Duration patience) {
        long deadline = System.nanoTime() + TimeUnit.NANOSECONDS.convert(patience);
        List<Grant> grants = marked().stream()
                .filter(Grant.class::isInstance)
                .map(Grant.class::cast)
                .filter(grant -> grant.peer().equals(peer))
                .toList();
        grants.forEach(grant -> grant.revoke(Duration.ZERO));
        return grants.stream()
                .map(grant -> grant.revoke(Duration.ofNanos(Math.max(0, deadline - System.nanoTime()))))
                .toList();
    }

    /// Why there is no registration where one was wanted: the last such reason.
    ///
    /// @return one line with what is used, the limits and who holds; `null` if none was ever refused
    public @Nullable String lastRefusal() {
        synchronized (lock) {
            return refusal;
        }
    }

    /// Who keeps what of a slab from being used again.
    ///
    /// @return a line for each, the oldest first
    public List<Held> held() {
        synchronized (lock) {
            long now = now();
            return all.copy().stream()
                    .map(each -> new Held(
                            traits.device(),
                            each.slab().id(),
                            each.length(),
                            each.access(),
                            each.peer() == null ? "-" : each.peer().toString(),
                            Duration.ofNanos(now - each.since()),
                            each.phase()))
                    .toList();
        }
    }

    /// What this has done and holds: a snapshot.
    ///
    /// @return figures of the time since it was made, and of now
    public RegistrationFigures figures() {
        synchronized (lock) {
            long quarantined = 0;
            long quarantinedBytes = 0;
            for (Marked each : all.copy()) {
                if (each.isQuarantined()) {
                    quarantined++;
                    quarantinedBytes += each.length();
                }
            }
            return new RegistrationFigures(
                    registered, granted, evicted, refused, surprises, all.size(), bytes, quarantined, quarantinedBytes);
        }
    }

    /// Takes back what was not used since the last call.
    public void trim() {
        long before;
        synchronized (lock) {
            before = trimmedAt;
            trimmedAt = ++tick;
        }
        for (Registration each : idle()) {
            if (each.lastUsed() < before) {
                countEvicted(each.evict());
            }
        }
    }

    /// Takes back every registration, and waits until the device has let go of all memory: for a picture of the
    /// process. The caller begins no use meanwhile; what is used afterwards is registered again, with another
    /// mark.
    ///
    /// @param patience how long to wait
    /// @throws IllegalStateException if memory is still marked then, naming what: operations under way, or
    ///     grants
    /// @throws InterruptedException if the thread is interrupted while it waits
    public void quiesce(Duration patience) throws InterruptedException {
        registrations().forEach(Registration::retireWhenIdle);
        if (!awaitNone(patience)) {
            throw new IllegalStateException(
                    "device still knows memory: waitedMs=" + patience.toMillis() + " " + holders());
        }
    }

    /// Ends the device, and with it every mark: what was in quarantine is free. Grants that are open are over.
    /// Again does nothing.
    ///
    /// @throws IllegalStateException if an operation of this process still uses a registration, or the device
    ///     cannot be ended: then it is as before, less its idle registrations, and can be closed again
    @Override
    public void close() {
        synchronized (lock) {
            if (ended) {
                return;
            }
            closed = true;
        }
        List<Registration> left = registrations();
        left.forEach(Registration::retireWhenIdle);
        if (left.stream().anyMatch(each -> each.uses() > 0)) {
            throw new IllegalStateException("registrations closed under operations: " + holders());
        }
        marked().forEach(each -> {
            if (each instanceof Grant grant) {
                grant.revoke(Duration.ZERO);
            }
        });
        registrar.close();
        synchronized (lock) {
            ended = true;
        }
        endAll(marked());
    }

    /// All of them, whatever the memory of one throws.
    private static void endAll(List<Marked> left) {
        for (int i = 0; i < left.size(); i++) {
            boolean over = false;
            try {
                left.get(i).deviceEnded();
                over = true;
            } finally {
                if (!over) {
                    endAll(left.subList(i + 1, left.size()));
                }
            }
        }
    }

    @Override
    public String toString() {
        return "Registrations[" + traits.device() + " " + figures() + " " + budget + "]";
    }

    /// @return `null` if the device knows nothing of it
    private @Nullable Use register(Slab slab) {
        Registration fresh = new Registration(this, slab);
        try {
            enter(fresh, Access.LOCAL);
        } catch (RegistrationRefusedException reason) {
            return null;
        }
        return fresh.shown() ? fresh.use() : null;
    }

    /// Makes a mark, and books it. After an exception nothing of it stays, unless the device may know the memory:
    /// then it counts as marked until the device says otherwise, or ends.
    void enter(Marked fresh, Access access) throws RegistrationRefusedException {
        boolean held = false;
        boolean whole = false;
        try {
            admit(fresh, access);
            held = fresh.slab().hold(fresh);
            if (!held) {
                throw refuse("slab has come to its end, or another thread registers it", fresh, null, false);
            }
            if (trace != null) {
                fresh.pin(Pin.open(trace, traits.device(), fresh));
            }
            ask(fresh, access);
            whole = true;
        } finally {
            if (!whole && fresh.mayBeMarked()) {
                surprised();
                fresh.abandon();
            } else if (!whole) {
                unpin(fresh);
                remove(fresh, fresh.length());
                letGo(fresh, held);
            }
        }
    }

    private static void letGo(Marked fresh, boolean held) {
        try {
            if (held) {
                fresh.slab().letGo(fresh);
            }
        } finally {
            fresh.refused();
        }
    }

    /// What can fail of ours comes before the device is asked.
    private void ask(Marked fresh, Access access) throws RegistrationRefusedException {
        long wanted = Keys.next();
        FlightEvents.Registered event = FlightEvents.registering();
        synchronized (lock) {
            keys.reserve();
        }
        long key;
        fresh.asked(true);
        try {
            fresh.mark(registrar.register(fresh.slab(), fresh.offset(), fresh.length(), access, fresh.peer(), wanted));
            key = fresh.made().key();
        } catch (RegistrationRefusedException said) {
            fresh.asked(false);
            throw refuse("device refused", fresh, said, true);
        } catch (RuntimeException thrown) {
            throw refuse("device threw, and may know the memory", fresh, thrown, true);
        }
        if (!taken(fresh, key, wanted, access)) {
            // its memory may be the other mark's
            throw refuse("device gave a key that is in use", fresh, null, true);
        }
        FlightEvents.registered(event, traits.device(), fresh);
    }

    private boolean taken(Marked fresh, long key, long wanted, Access access) {
        synchronized (lock) {
            if (traits.choosesKeys() ? !keys.add(fresh, key) : key != wanted) {
                return false;
            }
            fresh.named(key);
            granted += access == Access.REMOTE_WRITE ? 1 : 0;
            registered += access == Access.LOCAL ? 1 : 0;
            pause = SHORTEST_PAUSE;
            return true;
        }
    }

    /// Makes room for one more, by taking back idle ones; books it.
    private void admit(Marked fresh, Access access) throws RegistrationRefusedException {
        long length = fresh.length();
        if (!traits.accesses().contains(access) || length > traits.mostBytes()) {
            throw refuse(
                    "device cannot do that: access=" + access + " mostBytes=" + traits.mostBytes(), fresh, null, false);
        }
        long onItsWay = 0;
        while (true) {
            synchronized (lock) {
                if (closed) {
                    throw refuse("registrations are closed", fresh, null, false);
                }
                if (access == Access.LOCAL && pausesUntil - now() > 0) {
                    // as the last time, and not asked again so soon
                    refused++;
                    throw new RegistrationRefusedException(Objects.requireNonNullElse(refusal, "refused a moment ago"));
                }
                if (all.size() < traits.mostMarks() && (!traits.pins() || budget.tryTake(length))) {
                    all.add(fresh);
                    bytes += length;
                    tick++;
                    return;
                }
            }
            Registration oldest = idle().stream()
                    .min(Comparator.comparingLong(Registration::lastUsed))
                    .orElse(null);
            if (oldest == null || onItsWay >= length) {
                // what is used stays; what was taken back may still be with the device
                throw refuse(
                        "no room: marks=" + figures().marks() + " mostMarks=" + traits.mostMarks(), fresh, null, true);
            }
            if (oldest.evict()) {
                onItsWay += oldest.length();
                countEvicted(true);
            }
        }
    }

    private RegistrationRefusedException refuse(String what, Marked fresh, @Nullable Exception cause, boolean goesOn) {
        String said = cause == null ? "" : ": " + cause.getMessage();
        String line = what + said + ": device=" + traits.device() + " bytes=" + fresh.length() + " " + budget
                + " held by " + holders();
        synchronized (lock) {
            refused++;
            refusal = line;
            if (goesOn) {
                pausesUntil = now() + pause;
                pause = Math.min(2 * pause, LONGEST_PAUSE);
            }
        }
        FlightEvents.refused(traits.device(), fresh.length(), line);
        return cause == null ? new RegistrationRefusedException(line) : new RegistrationRefusedException(line, cause);
    }

    /// Tells the device to stop, once for a mark.
    void retire(Marked old, Ending ending) {
        if (!old.isMarked()) {
            // lost: there is nothing to name it by, and the end of the device ends it
            return;
        }
        try {
            registrar.retire(old.made(), ending, old::memoryIsFree);
        } catch (Throwable failure) {
            // whether it has stopped is not known: as if it had not
            surprised();
        }
    }

    /// For one that was on its way to the device when that was closed: a closed device says nothing of it.
    void freeIfEnded(Marked late) {
        boolean over;
        synchronized (lock) {
            over = ended;
        }
        if (over) {
            late.deviceEnded();
        }
    }

    /// The device has let go.
    void gone(Marked old) {
        synchronized (lock) {
            if (traits.choosesKeys() && old.ownsKey()) {
                keys.remove(old);
            }
            remove(old, old.length());
        }
        unpin(old);
        FlightEvents.free(traits.device(), old);
        old.slab().letGo(old);
    }

    /// A user's trace may throw, which keeps no memory.
    private void unpin(Marked old) {
        try {
            old.unpin();
        } catch (RuntimeException | Error failure) {
            surprised();
        }
    }

    void surprised() {
        synchronized (lock) {
            surprises++;
        }
    }

    long now() {
        return clock.getAsLong();
    }

    long tick() {
        return tick;
    }

    private void remove(Marked old, long length) {
        synchronized (lock) {
            if (!all.remove(old)) {
                return;
            }
            bytes -= length;
            if (traits.pins()) {
                budget.give(length);
            }
            if (waiting > 0) {
                lock.notifyAll();
            }
        }
    }

    private void countEvicted(boolean mine) {
        synchronized (lock) {
            evicted += mine ? 1 : 0;
        }
    }

    private List<Registration> idle() {
        return registrations().stream().filter(Registration::isIdle).toList();
    }

    private List<Registration> registrations() {
        return marked().stream()
                .filter(Registration.class::isInstance)
                .map(Registration.class::cast)
                .toList();
    }

    private List<Marked> marked() {
        synchronized (lock) {
            return all.copy();
        }
    }

    private boolean awaitNone(Duration patience) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.NANOSECONDS.convert(patience);
        synchronized (lock) {
            while (all.size() > 0) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                waiting++;
                try {
                    lock.wait(left / 1_000_000, (int) (left % 1_000_000));
                } finally {
                    waiting--;
                }
            }
            return true;
        }
    }

    private String holders() {
        List<Held> held = held();
        String first = held.stream().limit(4).map(Held::toString).collect(Collectors.joining("; "));
        return "[" + first + (held.size() > 4 ? "; and " + (held.size() - 4) + " more" : "") + "]";
    }

    private void checkOpen() {
        synchronized (lock) {
            if (closed) {
                throw new IllegalStateException("registrations are closed: device=" + traits.device());
            }
        }
    }
}
