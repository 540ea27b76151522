// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.pool.device.Access;
import io.bulla.pool.device.DeviceCapabilities;
import io.bulla.pool.device.Registrar;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.pool.device.RetireReason;
import io.bulla.refcount.LeaseTrace;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The marks of one device, booked and counted under one lock; no device is called under it.
final class DeviceMarks extends Marked.Owner {

    private static final long SHORTEST_PAUSE = 1_000_000;
    private static final long LONGEST_PAUSE = 1_000_000_000;

    private final Registrar registrar;
    private final DeviceCapabilities capabilities;
    private final PinBudget budget;
    private final LongSupplier clock;
    private final @Nullable LeaseTrace trace;
    // under the lock, as all below; no device is called under it
    private final Object lock = new Object();
    private final Marks all = new Marks();
    // of a device that makes them up; those of this process are given out once
    private final KeysInUse keys = new KeysInUse();
    private final Keys ahead = new Keys();
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
    // plain for the one look without the lock: one that comes late leaves a pause longer, once
    private boolean hasPaused;
    private boolean closed;
    private boolean ended;
    private long trimmedAt;
    // plain for its readers: a round that is stale makes the order of eviction a little worse
    private long tick;

    DeviceMarks(Registrar registrar, PinBudget budget, LongSupplier clock, @Nullable LeaseTrace trace) {
        this.trace = trace;
        this.registrar = Objects.requireNonNull(registrar, "registrar");
        this.capabilities = registrar.capabilities();
        this.budget = Objects.requireNonNull(budget, "budget");
        this.clock = clock;
        this.pausesUntil = clock.getAsLong();
    }

    /// Who has what, the oldest first.
    List<PinnedMemory> held() {
        synchronized (lock) {
            long now = now();
            return all.copy().stream()
                    .map(each -> new PinnedMemory(
                            capabilities.device(),
                            each.slab().id(),
                            each.length(),
                            each.access(),
                            each.peerName(),
                            Duration.ofNanos(now - each.since()),
                            each.phase()))
                    .toList();
        }
    }

    RegistrationFigures figures() {
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

    @Nullable
    String lastRefusal() {
        synchronized (lock) {
            return refusal;
        }
    }

    @Override
    DeviceCapabilities capabilities() {
        return capabilities;
    }

    /// Begins a round of the cache.
    ///
    /// @return when the one before began
    long nextRound() {
        synchronized (lock) {
            long before = trimmedAt;
            trimmedAt = ++tick;
            return before;
        }
    }

    /// No mark is made from now on.
    ///
    /// @return false if the device was ended
    boolean beginEnd() {
        synchronized (lock) {
            closed = true;
            return !ended;
        }
    }

    /// Ends the device; what is left then is gone.
    void endDevice() {
        registrar.close();
        synchronized (lock) {
            ended = true;
        }
    }

    /// Makes a mark, and books it. After an exception nothing of it stays, unless the device may know the memory:
    /// then it counts as marked until the device says otherwise, or ends.
    void enter(Marked fresh, Access access) throws RegistrationRefusedException {
        boolean admitted = false;
        boolean held = false;
        try {
            long wanted = admit(fresh, access);
            admitted = true;
            held = fresh.slab().hold(fresh);
            if (!held) {
                throw refuse("slab has come to its end, or another thread registers it", fresh, null, false);
            }
            if (trace != null) {
                fresh.pin(Pin.open(
                        trace,
                        capabilities.device(),
                        fresh.slab().id(),
                        fresh.length(),
                        fresh.access(),
                        fresh.peerName()));
            }
            ask(fresh, access, wanted);
        } catch (Throwable failure) {
            if (admitted) {
                synchronized (lock) {
                    count(access, -1);
                }
            }
            if (fresh.mayBeMarked()) {
                surprised();
                fresh.abandon();
            } else {
                unpin(fresh);
                remove(fresh, fresh.length());
                letGo(fresh, held);
            }
            throw failure;
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
    private void ask(Marked fresh, Access access, long wanted) throws RegistrationRefusedException {
        FlightEvents.Registered event = FlightEvents.registering();
        if (capabilities.choosesKeys()) {
            synchronized (lock) {
                keys.reserve();
            }
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
        if (!taken(fresh, key, wanted)) {
            // its memory may be the other mark's
            throw refuse("device gave a key that is in use", fresh, null, true);
        }
        if (hasPaused) {
            synchronized (lock) {
                pause = SHORTEST_PAUSE;
                hasPaused = false;
            }
        }
        FlightEvents.registered(event, capabilities.device(), fresh);
    }

    private boolean taken(Marked fresh, long key, long wanted) {
        if (capabilities.choosesKeys()) {
            synchronized (lock) {
                return keys.add(fresh, key);
            }
        }
        if (key != wanted) {
            return false;
        }
        fresh.named(key);
        return true;
    }

    /// Under the lock.
    private void count(Access access, int marks) {
        granted += access == Access.REMOTE_WRITE ? marks : 0;
        registered += access == Access.LOCAL ? marks : 0;
    }

    /// Makes room for one more, by taking back idle ones; books it.
    ///
    /// @return a key that was never given out
    private long admit(Marked fresh, Access access) throws RegistrationRefusedException {
        long length = fresh.length();
        if (!capabilities.accesses().contains(access) || length > capabilities.mostBytes()) {
            throw refuse(
                    "device cannot do that: access=" + access + " mostBytes=" + capabilities.mostBytes(),
                    fresh,
                    null,
                    false);
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
                if (all.size() < capabilities.mostMarks() && (!capabilities.pins() || budget.tryTake(length))) {
                    all.add(fresh);
                    bytes += length;
                    count(access, 1);
                    tick++;
                    return ahead.next();
                }
            }
            Registration oldest = idle().stream()
                    .min(Comparator.comparingLong(Registration::lastUsed))
                    .orElse(null);
            if (oldest == null || onItsWay >= length) {
                // what is used stays; what was taken back may still be with the device
                throw refuse(
                        "no room: marks=" + figures().marks() + " mostMarks=" + capabilities.mostMarks(),
                        fresh,
                        null,
                        true);
            }
            if (oldest.evict()) {
                onItsWay += oldest.length();
                countEvicted(true);
            }
        }
    }

    private RegistrationRefusedException refuse(String what, Marked fresh, @Nullable Exception cause, boolean goesOn) {
        String said = cause == null ? "" : ": " + cause.getMessage();
        String line = what + said + ": device=" + capabilities.device() + " bytes=" + fresh.length() + " " + budget
                + " held by " + holders();
        synchronized (lock) {
            refused++;
            refusal = line;
            if (goesOn) {
                pausesUntil = now() + pause;
                hasPaused = true;
                pause = Math.min(2 * pause, LONGEST_PAUSE);
            }
        }
        FlightEvents.refused(capabilities.device(), fresh.length(), line);
        return cause == null ? new RegistrationRefusedException(line) : new RegistrationRefusedException(line, cause);
    }

    /// Tells the device to stop, once for a mark.
    @Override
    void retire(Marked old, RetireReason reason) {
        if (!old.isMarked()) {
            // lost: there is nothing to name it by, and the end of the device ends it
            return;
        }
        try {
            registrar.retire(old.made(), reason, old::memoryIsFree);
        } catch (Throwable failure) {
            // whether it has stopped is not known: as if it had not
            surprised();
        }
    }

    /// For one that was on its way to the device when that was closed: a closed device says nothing of it.
    @Override
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
    @Override
    void gone(Marked old) {
        synchronized (lock) {
            if (capabilities.choosesKeys() && old.ownsKey()) {
                keys.remove(old);
            }
            removed(old, old.length());
        }
        unpin(old);
        FlightEvents.free(capabilities.device(), old);
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

    @Override
    void surprised() {
        synchronized (lock) {
            surprises++;
        }
    }

    @Override
    long now() {
        return clock.getAsLong();
    }

    @Override
    long tick() {
        return tick;
    }

    private void remove(Marked old, long length) {
        synchronized (lock) {
            removed(old, length);
        }
    }

    /// Under the lock.
    private void removed(Marked old, long length) {
        if (!all.remove(old)) {
            return;
        }
        bytes -= length;
        if (capabilities.pins()) {
            budget.give(length);
        }
        if (waiting > 0) {
            lock.notifyAll();
        }
    }

    void countEvicted(boolean mine) {
        synchronized (lock) {
            evicted += mine ? 1 : 0;
        }
    }

    List<Registration> idle() {
        return registrations().stream().filter(Registration::isIdle).toList();
    }

    List<Registration> registrations() {
        return all().stream()
                .filter(Registration.class::isInstance)
                .map(Registration.class::cast)
                .toList();
    }

    List<Marked> all() {
        synchronized (lock) {
            return all.copy();
        }
    }

    boolean awaitNone(Duration patience) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.NANOSECONDS.convert(patience);
        synchronized (lock) {
            while (all.size() > 0) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                waiting++;
                try {
                    TimeUnit.NANOSECONDS.timedWait(lock, left);
                } finally {
                    waiting--;
                }
            }
            return true;
        }
    }

    String holders() {
        List<PinnedMemory> held = held();
        String first = held.stream().limit(4).map(PinnedMemory::toString).collect(Collectors.joining("; "));
        return "[" + first + (held.size() > 4 ? "; and " + (held.size() - 4) + " more" : "") + "]";
    }

    void checkOpen() {
        synchronized (lock) {
            if (closed) {
                throw new IllegalStateException("registrations are closed: device=" + capabilities.device());
            }
        }
    }

    @Override
    public String toString() {
        return capabilities.device() + " " + figures() + " " + budget;
    }
}
