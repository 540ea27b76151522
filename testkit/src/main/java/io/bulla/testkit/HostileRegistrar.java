// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.pool.Slab;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.DeviceCapabilities;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.Registrar;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.pool.device.RetireReason;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A device that keeps its word, or does not: it refuses, gives a key twice, and says late, twice, unasked or
/// never that memory is free. It looks at what its caller does, too: [#complaints()].
public final class HostileRegistrar implements Registrar {

    /// When it says that the memory of a retired mark is free.
    public enum Freeing {
        /// Within the retirement.
        AT_ONCE,
        /// When the test calls [HostileRegistrar#freeLate()].
        LATE,
        /// Within the retirement, two times.
        TWICE,
        /// Not before it is closed.
        NEVER,
        /// It throws in place of it.
        THROWS
    }

    /// By identity: a key may be there twice.
    private static final class Made implements MemoryRegistration {
        private final HostileRegistrar by;
        private final Slab slab;
        private final long key;
        private final @Nullable Error keyThrows;
        private boolean retired;

        Made(HostileRegistrar by, Slab slab, long key, @Nullable Error keyThrows) {
            this.by = by;
            this.slab = slab;
            this.key = key;
            this.keyThrows = keyThrows;
        }

        @Override
        public long key() {
            if (keyThrows != null) {
                throw keyThrows;
            }
            return key;
        }
    }

    private final DeviceCapabilities capabilities;
    // under this monitor, as all below
    private final Queue<Runnable> late = new LinkedList<>();
    private int open;
    private @Nullable Long firstKey;
    private final List<RetireReason> endings = new ArrayList<>();
    private final Set<Long> keys = new HashSet<>();
    private final List<String> complaints = new ArrayList<>();
    private Freeing freeing = Freeing.AT_ONCE;
    private long calls;
    private long refuseAt;
    private boolean sameKey;
    private @Nullable Throwable afterMarking;
    private @Nullable Error keyThrows;
    private boolean closed;

    /// A device.
    ///
    /// @param mostMarks as in [DeviceCapabilities]
    /// @param pins as in [DeviceCapabilities]
    /// @param fence as in [DeviceCapabilities]
    public HostileRegistrar(long mostMarks, boolean pins, Fence fence) {
        this.capabilities = new DeviceCapabilities(
                "hostile", EnumSet.allOf(Access.class), pins, false, mostMarks, Long.MAX_VALUE, fence);
    }

    /// Sets when it says that memory is free.
    ///
    /// @param when for marks that are retired from now on
    /// @return this
    public synchronized HostileRegistrar freeing(Freeing when) {
        freeing = when;
        return this;
    }

    /// Refuses a registration.
    ///
    /// @param nth counted from now, at least 1
    /// @return this
    public synchronized HostileRegistrar refuse(long nth) {
        refuseAt = calls + nth;
        return this;
    }

    /// Gives each mark the key of the first one.
    ///
    /// @return this
    public synchronized HostileRegistrar sameKey() {
        sameKey = true;
        return this;
    }

    /// Marks the next memory, and then throws in place of saying so: unchecked.
    ///
    /// @param failure what it throws
    /// @return this
    public synchronized HostileRegistrar throwsAfterMarking(Throwable failure) {
        afterMarking = failure;
        return this;
    }

    /// Makes the next mark one that does not tell its key.
    ///
    /// @param failure what the mark throws when it is asked
    /// @return this
    public synchronized HostileRegistrar keyThrows(Error failure) {
        keyThrows = failure;
        return this;
    }

    /// Says that the memory of every mark that waits for it is free.
    public void freeLate() {
        for (Runnable each = nextLate(); each != null; each = nextLate()) {
            each.run();
        }
    }

    /// Marks that were made and not retired.
    ///
    /// @return at least 0
    public synchronized int open() {
        return open;
    }

    /// How often it was asked for a mark.
    ///
    /// @return at least 0
    public synchronized long calls() {
        return calls;
    }

    /// Why marks were retired.
    ///
    /// @return in order
    public synchronized List<RetireReason> endings() {
        return List.copyOf(endings);
    }

    /// What its caller did wrong: a mark retired twice, a slab that it does not hold, a key that was wanted
    /// before.
    ///
    /// @return a line each
    public synchronized List<String> complaints() {
        return List.copyOf(complaints);
    }

    @Override
    public DeviceCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public synchronized MemoryRegistration register(
            Slab slab, long offset, long length, Access access, @Nullable Peer peer, long wantedKey)
            throws RegistrationRefusedException {
        calls++;
        if (closed) {
            complaints.add("registers with a closed device: slab=" + slab.id());
        }
        if (slab.holderCount() == 0 || slab.holders() == 0) {
            complaints.add("does not hold the slab: slab=" + slab.id());
        }
        if (offset < 0 || length < 1 || offset + length > slab.byteSize()) {
            complaints.add("not in the slab: offset=" + offset + " length=" + length + " slab=" + slab.byteSize());
        }
        if (!keys.add(wantedKey)) {
            complaints.add("key wanted twice: key=" + Long.toHexString(wantedKey));
        }
        if (calls == refuseAt) {
            throw new RegistrationRefusedException("refused by the test: call=" + calls);
        }
        long key = sameKey && firstKey != null ? firstKey : wantedKey;
        firstKey = firstKey == null ? key : firstKey;
        open++;
        Throwable failure = afterMarking;
        afterMarking = null;
        if (failure != null) {
            throw HostileRegistrar.<RuntimeException>unchecked(failure);
        }
        Made made = new Made(this, slab, key, keyThrows);
        keyThrows = null;
        return made;
    }

    @Override
    public void retire(MemoryRegistration mark, RetireReason reason, Runnable memoryIsFree) {
        Freeing how;
        synchronized (this) {
            Made made = (Made) mark;
            if (made.retired || made.by != this) {
                complaints.add("retired twice, or never made: key=" + Long.toHexString(made.key));
            }
            if (made.slab.holderCount() == 0) {
                complaints.add("slab not held until the memory is free: slab=" + made.slab.id());
            }
            open -= made.retired ? 0 : 1;
            made.retired = true;
            endings.add(reason);
            how = freeing;
            if (how == Freeing.LATE) {
                late.add(memoryIsFree);
            }
        }
        if (how == Freeing.AT_ONCE || how == Freeing.TWICE) {
            memoryIsFree.run();
        }
        if (how == Freeing.TWICE) {
            memoryIsFree.run();
        }
        if (how == Freeing.THROWS) {
            throw new IllegalStateException("thrown by the test: key=" + Long.toHexString(mark.key()));
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T unchecked(Throwable failure) throws T {
        throw (T) failure;
    }

    private synchronized @Nullable Runnable nextLate() {
        return late.poll();
    }
}
