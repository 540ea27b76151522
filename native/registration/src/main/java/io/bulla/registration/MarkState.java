// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// How far a mark has come, and how many operations use it: a superclass and no field, since a use waits for the
/// memory of each object that it goes through. A grant has no uses.
///
/// ```
/// word:  uses .. 3 | phase 2..0
/// registering --live--> live(0)               registering --stop--> retiring(0), which the registering thread
/// closes
/// live(n) --use--> live(n + 1)                live(n) --end--> live(n - 1)
/// live(0) --evict or stop--> closing          live(n) --stop--> retiring(n) --the last end--> closing
/// registering --refused--> gone               closing --the memory is free--> gone, final
/// ```
///
/// Ordering
/// 1. **Every use comes before the retirement.** A use and its end are steps of the word, and so is the step to
///    closing, which needs zero uses: what the operation did is before it.
/// 2. **One thread retires, and the memory is free once.** The step to closing, and that to gone, are
///    compare-and-sets from a state that no other step comes back to.
/// 3. **A user meets the mark.** It is written before the step to live, which the step of a use reads.
/// 4. **Who finds it gone may use the memory.** What the device did before it let go is before the step to gone.
class MarkState {

    private static final long REGISTERING = 0;
    private static final long LIVE = 1;
    private static final long RETIRING = 2;
    private static final long CLOSING = 3;
    private static final long GONE = 4;
    private static final long PHASE = 7;
    private static final long ONE = 8;
    private static final VarHandle WORD;

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(MarkState.class, "word", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
        // the machine links a step as it is first taken, which takes heap, and this one is taken where there is none
        new MarkState().refused();
    }

    // through WORD only
    private long word = REGISTERING;

    /// The device knows the memory.
    ///
    /// @return false if it was stopped meanwhile: the caller retires it
    final boolean live() {
        // volatile: ordering 3; from retiring(0) no thread but this one steps
        return WORD.compareAndSet(this, REGISTERING, LIVE) || !WORD.compareAndSet(this, RETIRING, CLOSING);
    }

    /// The device does not know the memory.
    void refused() {
        // volatile: final, and read for reports only
        WORD.setVolatile(this, GONE);
    }

    /// @return false if it is not live: the caller goes another way
    final boolean tryUse() {
        while (true) {
            // opaque: a guess for the step below
            long before = (long) WORD.getOpaque(this);
            if ((before & PHASE) != LIVE) {
                return false;
            }
            // volatile: orderings 1 and 3
            if (WORD.compareAndSet(this, before, before + ONE)) {
                return true;
            }
        }
    }

    /// Ends a use.
    ///
    /// @return true if it was the last one of a stopped registration: the caller retires it
    final boolean endUse() {
        while (true) {
            // opaque: a guess for the step below
            long before = (long) WORD.getOpaque(this);
            if (before < ONE) {
                throw new IllegalStateException("use ended more often than begun: state=" + text(before));
            }
            long after = before == RETIRING + ONE ? CLOSING : before - ONE;
            // volatile: orderings 1 and 2
            if (WORD.compareAndSet(this, before, after)) {
                return after == CLOSING;
            }
        }
    }

    /// Stops it if no operation uses it.
    ///
    /// @return true if the caller retires it
    final boolean tryEvict() {
        // volatile: orderings 1 and 2
        return WORD.compareAndSet(this, LIVE, CLOSING);
    }

    /// No use begins from now on.
    ///
    /// @return true if the caller retires it now
    final boolean stop() {
        while (true) {
            // opaque: a guess for the step below
            long before = (long) WORD.getOpaque(this);
            long phase = before & PHASE;
            if (phase != LIVE && phase != REGISTERING) {
                return false;
            }
            long after = before == LIVE ? CLOSING : before - phase + RETIRING;
            // volatile: orderings 1 and 2
            if (WORD.compareAndSet(this, before, after)) {
                return after == CLOSING;
            }
        }
    }

    /// The device has let go.
    ///
    /// @return false if it had before, or was not asked
    final boolean free() {
        // volatile: ordering 2
        return WORD.compareAndSet(this, CLOSING, GONE);
    }

    /// Operations under way: a guess.
    final long uses() {
        // opaque: a snapshot
        return (long) WORD.getOpaque(this) >> 3;
    }

    final boolean isIdle() {
        // opaque: a guess, which the eviction confirms
        return (long) WORD.getOpaque(this) == LIVE;
    }

    /// Registering or live.
    final boolean mayBeUsed() {
        // opaque: a snapshot
        return ((long) WORD.getOpaque(this) & PHASE) <= LIVE;
    }

    /// The device does not know the memory, or has let go of it.
    final boolean isGone() {
        // volatile: ordering 4
        return (long) WORD.getVolatile(this) == GONE;
    }

    @Override
    public String toString() {
        // opaque: a snapshot
        return text((long) WORD.getOpaque(this));
    }

    private static String text(long word) {
        return switch ((int) (word & PHASE)) {
            case (int) REGISTERING -> "registering";
            case (int) LIVE -> "live";
            case (int) RETIRING -> "retiring";
            case (int) CLOSING -> "closing";
            default -> "gone";
        };
    }
}
