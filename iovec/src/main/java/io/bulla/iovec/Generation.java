// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// A stamp of memory that is reused. Views carry it, and throw after its end. It also counts the holds that outlast
/// its end, and notes whether a raw view escaped.
///
/// ```
/// word:  31 written | 2..30 holds | 1 escaped | 0 ended
/// written --shown()--> current                by the owner, who alone has the stamp until then
/// written --dropped()--> ended
/// current --end()--> ended                    ended is final
/// current --a raw view is taken--> escaped    final; after the end it is refused by an exception
/// current --a hold--> held(n + 1)             not after the end; the last hold released after the end calls rested()
/// ```
///
/// A memory source that reuses memory ends the stamp first. The result of [#end()] says what it may do with the
/// memory.
///
/// Ordering
/// 1. **A reader looks after it has read.** It fences (acquire) between its read and its look at the stamp. If it
///    read bytes of a later owner, it finds the stamp ended: the source fences (release) between the end and the
///    later owner's first write.
/// 2. **One word.** The end and the taking of a view change the same word: either the end sees the view, or the
///    taker sees the end. The same holds for a hold and the end.
public class Generation {

    private static final int ENDED = 1;
    private static final int ESCAPED = 2;
    private static final int HOLD = 4;
    private static final int WRITTEN = Integer.MIN_VALUE;
    private static final VarHandle WORD;

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(Generation.class, "word", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // through WORD only, after construction
    private int word;

    /// A stamp that has not ended.
    public Generation() {}

    /// A stamp that has not ended, perhaps of memory that is still written to: of no view until [#shown()].
    ///
    /// @param written whether it is
    protected Generation(boolean written) {
        word = written ? WRITTEN : 0;
    }

    /// What the memory's owner may do with it once the stamp has ended.
    public enum End {
        /// No view is left that does not look at the stamp: the memory may be reused at once.
        FREE,
        /// A call still reads the memory, and says when it is done: [Generation#rested()].
        RESTS,
        /// A raw view was given out, and its holder cannot be asked: the memory is not reused.
        ESCAPED,
        /// The stamp had ended before.
        AGAIN
    }

    /// Ends the stamp: every view that carries it throws from now on. Again is harmless.
    ///
    /// @return what may be done with the memory
    public final End end() {
        // volatile: ordering 2; what the owner did is before what a later owner does
        int before = (int) WORD.getAndBitwiseOr(this, ENDED);
        if ((before & ENDED) != 0) {
            return End.AGAIN;
        }
        return (before & ESCAPED) != 0 ? End.ESCAPED : before >= HOLD ? End.RESTS : End.FREE;
    }

    /// Passes while the stamp has not ended. Called after the read that it is to vouch for.
    ///
    /// @throws IllegalStateException once it has
    public final void check() {
        // acquire: ordering 1, the read is above this line
        VarHandle.acquireFence();
        if (isEnded()) {
            throw new IllegalStateException("stale view: its memory was given back");
        }
    }

    /// Called once, by the last call that read the memory beside its end, if no raw view was given out.
    protected void rested() {}

    /// Tells whether the memory is still written to. For its owner.
    ///
    /// @return false if it never was, or since [#shown()]
    protected final boolean isWritten() {
        // opaque: finds a mistake, not a race; it changes while the owner alone has the stamp
        return (int) WORD.getOpaque(this) < 0;
    }

    /// The writing is over, and views are going to be given out. By the owner, once.
    protected final void shown() {
        // opaque: no other thread has the stamp, and the views that carry it are published later
        WORD.setOpaque(this, 0);
    }

    /// Ends the stamp of memory that was written to, and of which no view was given out. By the owner, once.
    protected final void dropped() {
        // opaque: no other thread has the stamp, and no view is to throw
        WORD.setOpaque(this, WRITTEN | ENDED);
    }

    /// Tells whether the stamp has ended.
    ///
    /// @return true for ever after
    protected final boolean isEnded() {
        // opaque: ordering 1, the fence is the caller's
        return ((int) WORD.getOpaque(this) & ENDED) != 0;
    }

    /// A raw view is about to be given out.
    ///
    /// @return false if the stamp has ended: it must not be
    final boolean escape() {
        while (true) {
            // opaque: a guess for the step below; escaped is final
            int before = (int) WORD.getOpaque(this);
            if ((before & ENDED) != 0) {
                return false;
            }
            // volatile: ordering 2
            if ((before & ESCAPED) != 0 || WORD.compareAndSet(this, before, before | ESCAPED)) {
                return true;
            }
        }
    }

    /// Keeps the memory from being reused until [#letGo()].
    ///
    /// @return false if the stamp has ended; then there is nothing to let go
    final boolean hold() {
        while (true) {
            // opaque: a guess for the step below
            int before = (int) WORD.getOpaque(this);
            if ((before & ENDED) != 0) {
                return false;
            }
            // volatile: ordering 2
            if (WORD.compareAndSet(this, before, before + HOLD)) {
                return true;
            }
        }
    }

    /// Ends one hold.
    final void letGo() {
        // volatile: the reads of this hold are above, the reuse is below
        if ((int) WORD.getAndAdd(this, -HOLD) == HOLD + ENDED) {
            rested();
        }
    }
}
