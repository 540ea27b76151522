// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.pool.Slab;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.RetireReason;
import io.bulla.registration.Revocation.Clean;
import io.bulla.registration.Revocation.Quarantined;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The right of one peer to write: to an exact range of a [RemoteWriteTarget], by a key that no one else ever had or
/// will have.
///
/// ```
/// granted --complete--> over                          the peer said so, in order, or the device counted all
/// bytes
/// granted --revoke----> over, no new access --fenced--> the memory is the program's
///                                           --patience ended--> in quarantine --fenced--> the program's
/// ```
///
/// Any thread may end it; the first one decides how.
public final class Grant extends Marked {

    private final Consumer<Grant> whenFenced;
    private final Peer peer;
    private final CompletableFuture<Void> fence = new CompletableFuture<>();
    // volatile: for reports; written before the look at whether it is fenced after all
    private volatile boolean quarantined;
    // plain: a thread finds itself here, and no other one by mistake
    private @Nullable Thread registering = Thread.currentThread();

    /// @param whenFenced told once
    Grant(Owner marks, Slab slab, long offset, long length, Peer peer, Consumer<Grant> whenFenced) {
        super(marks, slab, offset, length);
        this.peer = peer;
        this.whenFenced = whenFenced;
    }

    /// The key that the peer names the memory by.
    ///
    /// @return a key that is this grant's alone, for the life of the process
    public long key() {
        return markKey();
    }

    /// What the device knows the range by: for an operation of this process that waits for the peer, as a
    /// receive does.
    ///
    /// @return the mark of this range alone
    public MemoryRegistration registration() {
        return made();
    }

    /// Where the peer's range begins: a device whose keys go with addresses wants it.
    ///
    /// @return an address
    public long address() {
        return slab().address() + offset();
    }

    /// How much the peer may write.
    ///
    /// @return bytes
    public long byteSize() {
        return length();
    }

    /// Who may write.
    ///
    /// @return the peer that it was granted to
    @Override
    public Peer peer() {
        return peer;
    }

    /// Ends it because the peer has written everything, and all of it has arrived. The key is void.
    ///
    /// @param patience how long to wait for the device
    /// @return clean, or what is left
    public Revocation complete(Duration patience) {
        return end(RetireReason.COMPLETE, patience);
    }

    /// Ends it whatever the peer does: it may be dead, late or hostile. The key is void when this returns. To be
    /// called before a listener hears that the peer has failed.
    ///
    /// How wide a *clean* is, is the device's promise ([io.bulla.pool.device.Fence]). Of a fabric's domain it
    /// covers every write by this key, from any peer, and by whatever endpoint of this process it comes.
    ///
    /// @param patience how long to wait until the device has stopped; with zero only what is so at once is clean
    /// @return clean, or what is left. An interrupt ends the waiting, and stays set. Out of its own registration it
    ///     does not wait: it ends behind that
    public Revocation revoke(Duration patience) {
        return end(RetireReason.REVOKED, patience);
    }

    /// Revokes all: no new access first, for all of them.
    static List<Revocation> revokeAll(List<Grant> grants, Duration patience) {
        long deadline = System.nanoTime() + TimeUnit.NANOSECONDS.convert(patience);
        grants.forEach(grant -> grant.revoke(Duration.ZERO));
        return grants.stream()
                .map(grant -> grant.revoke(Duration.ofNanos(Math.max(0, deadline - System.nanoTime()))))
                .toList();
    }

    /// Whether the memory is the program's again.
    ///
    /// @return false while the device, or the peer through it, may write
    public boolean isFenced() {
        // not as soon as it is gone: what it was granted of is told before
        return fence.isDone();
    }

    /// For whom it holds: for itself.
    @Override
    public Object owner() {
        return this;
    }

    /// Does nothing: a grant ends when its landing does.
    @Override
    public void wanted() {}

    @Override
    public String toString() {
        return "Grant[peer=" + peer + " key=" + (isMarked() ? Long.toHexString(key()) : "-") + " bytes=" + length()
                + " " + phase() + "]";
    }

    @Override
    boolean isQuarantined() {
        return (quarantined || isLost()) && !isGone();
    }

    boolean overlaps(long from, long to) {
        return offset() < to && from < offset() + length();
    }

    @Override
    void refused() {
        try {
            super.refused();
        } finally {
            whenFree();
        }
    }

    @Override
    Access access() {
        return Access.REMOTE_WRITE;
    }

    @Override
    boolean shown() {
        try {
            return super.shown();
        } finally {
            registering = null;
        }
    }

    @Override
    String phase() {
        return isGone() ? "fenced" : isQuarantined() ? "quarantined" : mayBeUsed() ? "granted" : "ending";
    }

    /// One that ends while it is being registered: no peer has its key yet.
    @Override
    void retire() {
        marks().retire(this, RetireReason.REVOKED);
    }

    @Override
    void whenFree() {
        try {
            whenFenced.accept(this);
        } finally {
            // last: what waits for it may use the memory
            fence.complete(null);
        }
    }

    private Revocation end(RetireReason how, Duration patience) {
        // one that is being registered is retired by the thread that does so
        if (stop()) {
            marks().retire(this, how);
        }
        return await(patience);
    }

    private Revocation await(Duration patience) {
        if (isFenced()) {
            return new Clean();
        }
        String why = "called back from within its registration";
        if (registering != Thread.currentThread()) {
            why = "device has not stopped: fence=" + marks().capabilities().fence();
            try {
                fence.get(Math.max(0, TimeUnit.NANOSECONDS.convert(patience)), TimeUnit.NANOSECONDS);
                return new Clean();
            } catch (TimeoutException notYet) {
                // below
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                why = "interrupted while waiting for the device";
            } catch (ExecutionException completedByACaller) {
                why = "fence was completed by a caller";
            }
        }
        quarantined = true;
        if (isFenced()) {
            return new Clean();
        }
        FlightEvents.quarantined(marks().capabilities().device(), this, patience, why);
        return new Quarantined(peer, key(), length(), patience, why, fence.copy());
    }
}
