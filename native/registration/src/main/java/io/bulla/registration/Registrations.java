// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.Slab;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.DeviceCapabilities;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.Registrar;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.internal.Failures;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// What one device knows of the memory of slabs: a cache for sends, and the keys that peers have.
///
/// ```java
/// try (RegistrationUse use = registrations.use(message, 0)) {
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

    final DeviceMarks marks;

    private Registrations(Registrar registrar, PinBudget budget, LongSupplier clock, @Nullable LeaseTrace trace) {
        this.marks = new DeviceMarks(registrar, budget, clock, trace);
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

    /// The capabilities of the device.
    ///
    /// @return the same each time
    public DeviceCapabilities capabilities() {
        return marks.capabilities();
    }

    /// Begins an operation of this process on registered memory. The first one on a slab registers all of it.
    ///
    /// @param buffer open until the operation is over
    /// @param region which of its regions
    /// @return closed by the caller when the operation is over; `null` if there is no registration: the caller
    ///     takes a path that needs none, and [#lastRefusal()] may say why
    /// @throws IndexOutOfBoundsException if there is no such region
    /// @throws IllegalStateException if the buffer is closed
    public @Nullable RegistrationUse use(SealedBuffer buffer, int region) {
        Slab slab = Slab.of(buffer.iovec(), region);
        if (slab == null) {
            // foreign memory: what ends it cannot be told
            return null;
        }
        Slab.Holder found = slab.holder(marks);
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
    public RemoteWriteTarget remoteWriteTarget(SlabSource memory, long byteSize) {
        return RemoteWriteTarget.take(marks, memory, byteSize);
    }

    /// Ends every grant of a peer, whatever it does: no new access first, for all of them. To be called before a
    /// listener hears that the peer has failed, so that it knows what memory it may use.
    ///
    /// @param peer that failed
    /// @param patience how long to wait until the device has stopped, for all grants together
    /// @return what became of each grant that was not fenced yet
    public List<Revocation> revoke(Peer peer, Duration patience) {
        List<Grant> grants = marks.all().stream()
                .filter(Grant.class::isInstance)
                .map(Grant.class::cast)
                .filter(grant -> grant.peer().equals(peer))
                .toList();
        return Grant.revokeAll(grants, patience);
    }

    /// Why there is no registration where one was wanted: the last such reason.
    ///
    /// @return one line with what is used, the limits and who holds; `null` if none was ever refused
    public @Nullable String lastRefusal() {
        return marks.lastRefusal();
    }

    /// Who keeps what of a slab from being used again.
    ///
    /// @return a line for each, the oldest first
    public List<PinnedMemory> held() {
        return marks.held();
    }

    /// Figures of this cache: a snapshot.
    ///
    /// @return figures of the time since it was made, and of now
    public RegistrationFigures figures() {
        return marks.figures();
    }

    /// Takes back what was not used since the last call.
    public void trim() {
        long before = marks.nextRound();
        for (Registration each : marks.idle()) {
            if (each.lastUsed() < before) {
                marks.countEvicted(each.evict());
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
        marks.registrations().forEach(Registration::retireWhenIdle);
        if (!marks.awaitNone(patience)) {
            throw new IllegalStateException(
                    "device still knows memory: waitedMs=" + patience.toMillis() + " " + marks.holders());
        }
    }

    /// Ends the device, and with it every mark: what was in quarantine is free. Grants that are open are over.
    /// Again does nothing.
    ///
    /// @throws IllegalStateException if an operation of this process still uses a registration, or the device
    ///     cannot be ended: then it is as before, less its idle registrations, and can be closed again
    @Override
    public void close() {
        if (!marks.beginEnd()) {
            return;
        }
        List<Registration> left = marks.registrations();
        left.forEach(Registration::retireWhenIdle);
        if (left.stream().anyMatch(each -> each.uses() > 0)) {
            throw new IllegalStateException("registrations closed under operations: " + marks.holders());
        }
        marks.all().forEach(each -> {
            if (each instanceof Grant grant) {
                grant.revoke(Duration.ZERO);
            }
        });
        marks.endDevice();
        Throwable failure = null;
        for (Marked each : marks.all()) {
            try {
                each.deviceEnded();
            } catch (Throwable thrown) {
                // all of them, whatever the memory of one throws
                failure = Failures.join(failure, thrown);
            }
        }
        Failures.rethrow(failure);
    }

    @Override
    public String toString() {
        return "Registrations[" + marks + "]";
    }

    /// @return `null` if the device knows nothing of it
    private @Nullable RegistrationUse register(Slab slab) {
        Registration fresh = new Registration(marks, slab);
        try {
            marks.enter(fresh, Access.LOCAL);
        } catch (RegistrationRefusedException reason) {
            return null;
        }
        return fresh.shown() ? fresh.use() : null;
    }
}
