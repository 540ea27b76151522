// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.pool.Slab;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.DeviceCapabilities;
import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.RetireReason;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Memory that a device knows of: a holder of its slab.
abstract class Marked extends MarkState implements Slab.Holder {

    /// Whom the marks of one device are. A class of which the module has one subclass: a call to it is a direct one.
    abstract static class Owner {

        abstract DeviceCapabilities capabilities();

        /// In nanoseconds, of the clock that ages and pauses go by.
        abstract long now();

        /// The round of the cache.
        abstract long tick();

        /// Tells the device to stop, once for a mark.
        abstract void retire(Marked old, RetireReason reason);

        /// For one that was on its way to the device when that was closed: a closed device says nothing of it.
        abstract void freeIfEnded(Marked late);

        /// The device has let go.
        abstract void gone(Marked old);

        /// The device did what it should not.
        abstract void surprised();
    }

    private final Owner marks;
    private final Slab slab;
    private final long offset;
    private final long length;
    private final long since;
    // before the device is asked: from then on only the device says that it does not know the memory
    private boolean asked;
    // before it is shown by the state of the subclass; none if the device threw, and may have made one
    private @Nullable MemoryRegistration mark;
    // the mark's, which a use would have to wait for
    private long key;
    private boolean ownsKey;
    // of KeysInUse, under the owner's lock
    @Nullable
    Marked nextOfKey;

    // of Marks, under the owner's lock
    @Nullable
    Marked previous;

    @Nullable
    Marked next;

    boolean isListed;
    // before the device is asked, and closed when it has let go
    private @Nullable Pin pin;

    Marked(Owner marks, Slab slab, long offset, long length) {
        this.marks = marks;
        this.slab = slab;
        this.offset = offset;
        this.length = length;
        this.since = marks.now();
    }

    final Owner marks() {
        return marks;
    }

    final Slab slab() {
        return slab;
    }

    final long offset() {
        return offset;
    }

    final long length() {
        return length;
    }

    final long since() {
        return since;
    }

    final MemoryRegistration made() {
        return Objects.requireNonNull(mark, "mark");
    }

    /// The key of the mark; 0 while there is none.
    final long markKey() {
        return key;
    }

    final boolean isMarked() {
        return mark != null;
    }

    /// @param is true before the device is asked, false when it has refused
    final void asked(boolean is) {
        asked = is;
    }

    /// Whether the device was asked, and has not refused.
    final boolean mayBeMarked() {
        return asked;
    }

    /// The device may know the memory, and gave no mark by which it could be told to let go: it ends with the
    /// device. For reports.
    final boolean isLost() {
        return !mayBeUsed() && asked && mark == null;
    }

    /// @param given by the device, which can be told to let go of it from now on
    final void mark(MemoryRegistration given) {
        mark = Objects.requireNonNull(given, "mark");
    }

    /// @param own what the mark says, and no other mark has
    final void named(long own) {
        key = own;
        ownsKey = true;
    }

    /// @param listed with the trace; closed when the device has let go
    final void pin(Pin listed) {
        pin = listed;
    }

    /// It is listed no more; again is harmless.
    final void unpin() {
        Pin listed = pin;
        if (listed != null) {
            listed.close();
        }
    }

    /// Whether its key is no other mark's.
    final boolean ownsKey() {
        return ownsKey;
    }

    abstract Access access();

    abstract @Nullable Peer peer();

    /// For reports.
    final String peerName() {
        Peer whose = peer();
        return whose == null ? "-" : whose.toString();
    }

    /// Ended, and the device has not stopped.
    boolean isQuarantined() {
        return isLost() && !isGone();
    }

    /// The words of a report about it.
    abstract String phase();

    /// The device is to let go of it.
    abstract void retire();

    /// The device has let go of it: once, after a retirement.
    void whenFree() {}

    /// The device knows the memory: it is shown, or retired at once if it was ended meanwhile.
    ///
    /// @return false if it was
    boolean shown() {
        if (live()) {
            return true;
        }
        retire();
        marks.freeIfEnded(this);
        return false;
    }

    /// The device may have made a mark, which is not to be trusted: it is retired.
    final void abandon() {
        stop();
        shown();
    }

    /// The device can no longer touch the memory. Called by the device, which may be wrong about how often.
    final void memoryIsFree() {
        if (!freed()) {
            marks.surprised();
        }
    }

    /// The registrar is closed: every mark is gone.
    final void deviceEnded() {
        stop();
        freed();
    }

    private boolean freed() {
        if (!free()) {
            return false;
        }
        try {
            marks.gone(this);
        } finally {
            whenFree();
        }
        return true;
    }
}
