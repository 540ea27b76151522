// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.Slab;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.RegistrationRefusedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Memory that peers write to, until all of them have ended and it is sealed.
///
/// ```
/// open --grant--> written by peers --every grant ended, and fenced--> seal() --> SealedBuffer
/// open --reclaim()--> open: all of it is the program's again          or unusable, and another one in its place
/// any  --close()--> the region goes back with the last fence
/// ```
///
/// The region is neither given back nor used again while a grant on it is not fenced, whatever the program does.
/// Any thread may call it.
public final class RemoteWriteTarget implements AutoCloseable {

    private enum State {
        OPEN,
        SEALED,
        UNUSABLE,
        CLOSED
    }

    private final DeviceMarks marks;
    private final SlabSource memory;
    private final long byteSize;
    private final Slab slab;
    private final long start;
    // under this monitor, as all below; no device is called under it
    private @Nullable Region region;
    private final List<Grant> unfenced = new ArrayList<>();
    private State state = State.OPEN;
    // calls that take the memory back from every peer: while there are, no other peer gets any
    private int reclaims;

    private RemoteWriteTarget(DeviceMarks marks, SlabSource memory, Region region, Slab slab, long byteSize) {
        this.marks = marks;
        this.memory = memory;
        this.region = region;
        this.slab = slab;
        this.start = region.segment().address() - slab.address();
        this.byteSize = byteSize;
    }

    static RemoteWriteTarget take(DeviceMarks marks, SlabSource memory, long byteSize) {
        marks.checkOpen();
        Region region = memory.allocate(byteSize);
        boolean taken = false;
        try {
            Slab slab = Slab.of(region);
            if (slab == null) {
                throw new IllegalArgumentException(
                        "landing needs slabs, and the source uses no memory again: " + memory);
            }
            RemoteWriteTarget landing = new RemoteWriteTarget(marks, memory, region, slab, byteSize);
            taken = true;
            return landing;
        } finally {
            if (!taken) {
                region.release();
            }
        }
    }

    /// Size of the memory.
    ///
    /// @return bytes
    public long byteSize() {
        return byteSize;
    }

    /// Lets a peer write all of it.
    ///
    /// @param peer gets a key that no peer ever had
    /// @return ended by the caller
    /// @throws RegistrationRefusedException if the device, or the budget, has no room
    /// @throws IllegalArgumentException if another peer may still write there
    /// @throws IllegalStateException if the landing is over or is being reclaimed, or the grant was ended while the
    ///     device was asked
    public Grant grant(Peer peer) throws RegistrationRefusedException {
        return grant(peer, 0, byteSize);
    }

    /// Lets a peer write a part of it.
    ///
    /// @param peer gets a key that no peer ever had
    /// @param offset of the part, in bytes
    /// @param length in bytes, at least 1
    /// @return ended by the caller
    /// @throws RegistrationRefusedException if the device, or the budget, has no room
    /// @throws IndexOutOfBoundsException if there is no such part
    /// @throws IllegalArgumentException if another peer may still write there, or `length` is 0
    /// @throws IllegalStateException if the landing is over or is being reclaimed, or the grant was ended while the
    ///     device was asked
    public Grant grant(Peer peer, long offset, long length) throws RegistrationRefusedException {
        Objects.checkFromIndexSize(offset, length, byteSize);
        if (length < 1) {
            throw new IllegalArgumentException("grant of no bytes: offset=" + offset + " length=" + length);
        }
        Grant grant = new Grant(marks, slab, start + offset, length, peer, this::fenced);
        add(grant);
        marks.enter(grant, Access.REMOTE_WRITE);
        if (!grant.shown()) {
            throw new IllegalStateException("grant was ended while its device was asked: it is over: " + this);
        }
        return grant;
    }

    /// Ends it as a buffer of all its bytes.
    ///
    /// @return the first handle
    /// @throws IllegalStateException if a grant has not ended, or is not fenced, naming it; or the landing is
    ///     over
    public SealedBuffer seal() {
        return seal(byteSize);
    }

    /// Ends it as a buffer of its first bytes.
    ///
    /// @param used how many count, 0 to the landing's size
    /// @return the first handle
    /// @throws IllegalArgumentException if there are not so many
    /// @throws IllegalStateException if a grant has not ended, or is not fenced, naming it; or the landing is
    ///     over
    public SealedBuffer seal(long used) {
        if (used < 0 || used > byteSize) {
            throw new IllegalArgumentException("more used than there is: used=" + used + " byteSize=" + byteSize);
        }
        Region filled;
        synchronized (this) {
            checkOpen();
            if (!unfenced.isEmpty()) {
                throw new IllegalStateException("landing sealed before its grants ended: " + unfenced);
            }
            filled = Objects.requireNonNull(region);
            region = null;
            state = State.SEALED;
        }
        return memory.sealFilled(filled, used);
    }

    /// Takes the memory back from every peer. Afterwards no grant is left, and it can be granted again, or
    /// sealed. Meanwhile it cannot be granted.
    ///
    /// @param patience how long to wait until the device has stopped, for all grants together
    /// @throws BufferUnusableException if it has not by then. The landing is over, and its memory goes back
    ///     when the device has stopped; the exception carries other memory
    /// @throws IllegalStateException if the landing is over
    public void reclaim(Duration patience) throws BufferUnusableException {
        List<Grant> left;
        synchronized (this) {
            checkOpen();
            left = List.copyOf(unfenced);
            reclaims++;
        }
        Grant unsafe = null;
        boolean revoked = false;
        try {
            Grant.revokeAll(left, patience);
            revoked = true;
        } finally {
            synchronized (this) {
                reclaims--;
                unsafe = revoked && !unfenced.isEmpty() ? unfenced.getFirst() : null;
                if (unsafe != null && state == State.OPEN) {
                    state = State.UNUSABLE;
                }
            }
        }
        if (unsafe != null) {
            // the memory goes back with its fence, which is not there yet
            throw unusable(unsafe, patience);
        }
    }

    /// The grants whose memory is not the program's yet.
    ///
    /// @return the oldest first
    public List<Grant> unfenced() {
        synchronized (this) {
            return List.copyOf(unfenced);
        }
    }

    /// Gives the memory back: revokes what is granted, and lets the region go with the last fence. A sealed one
    /// is its buffer's already. Again does nothing.
    @Override
    public void close() {
        List<Grant> left;
        synchronized (this) {
            state = state == State.OPEN ? State.CLOSED : state;
            left = List.copyOf(unfenced);
        }
        left.forEach(grant -> grant.revoke(Duration.ZERO));
        giveBackIfOver();
    }

    @Override
    public String toString() {
        synchronized (this) {
            return "RemoteWriteTarget[byteSize=" + byteSize + " slab=" + slab.id() + " " + state + " unfenced="
                    + unfenced + "]";
        }
    }

    /// The device has stopped for a grant.
    private void fenced(Grant grant) {
        Region free;
        synchronized (this) {
            unfenced.remove(grant);
            free = givenUp();
        }
        release(free);
    }

    private void add(Grant grant) {
        synchronized (this) {
            checkOpen();
            if (reclaims > 0) {
                throw new IllegalStateException("landing is being taken back from its peers: " + this);
            }
            for (Grant other : unfenced) {
                if (other.overlaps(grant.offset(), grant.offset() + grant.length())) {
                    throw new IllegalArgumentException(
                            "another peer may write there: wanted=" + grant + " there=" + other);
                }
            }
            unfenced.add(grant);
        }
    }

    private void checkOpen() {
        if (state != State.OPEN) {
            throw over();
        }
    }

    private IllegalStateException over() {
        return new IllegalStateException("landing is over: " + this);
    }

    private BufferUnusableException unusable(Grant unsafe, Duration waited) {
        try {
            return new BufferUnusableException(unsafe, waited, take(marks, memory, byteSize), null);
        } catch (RuntimeException | OutOfMemoryError noMemory) {
            return new BufferUnusableException(unsafe, waited, null, noMemory);
        }
    }

    private void giveBackIfOver() {
        Region free;
        synchronized (this) {
            free = givenUp();
        }
        release(free);
    }

    /// The region, if it is over and no grant is left. Under this monitor; once.
    private @Nullable Region givenUp() {
        if (state == State.OPEN || !unfenced.isEmpty()) {
            return null;
        }
        Region free = region;
        region = null;
        return free;
    }

    private static void release(@Nullable Region free) {
        if (free != null) {
            free.release();
        }
    }
}
