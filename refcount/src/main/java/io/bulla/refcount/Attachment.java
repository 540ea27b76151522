// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// Extra state of a lease, made only when asked for: a tag, and the reference that its listener wants to find again.
///
/// ```
/// open: traced --end()--> ended      ended is final; the tag stays, for the errors of a closed lease
/// ```
final class Attachment {

    /// What [#end] returns for an open lease of which no listener wants to hear.
    static final Object UNTRACED = new Object();

    private static final Object ENDED = new Object();
    private static final VarHandle TRACED;

    static {
        try {
            TRACED = MethodHandles.lookup().findVarHandle(Attachment.class, "traced", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /// Stands in an open lease of which nothing was asked.
    static final Attachment NONE = new Attachment(null, UNTRACED);

    /// Stands in a closed lease of which nothing was asked, and in one that is not opened yet.
    static final Attachment CLOSED = new Attachment(null, ENDED);

    private final @Nullable Object tag;
    // through TRACED only, after construction
    private Object traced;

    private Attachment(@Nullable Object tag, Object traced) {
        this.tag = tag;
        this.traced = traced;
    }

    /// The record of one lease.
    ///
    /// @param tag who holds, or null
    /// @param traced what [LeaseTrace#opened] returned, or null
    static Attachment of(@Nullable Object tag, @Nullable Object traced) {
        return tag == null && traced == null ? NONE : new Attachment(tag, traced == null ? UNTRACED : traced);
    }

    /// Who holds or held, or null.
    @Nullable
    Object tag() {
        return tag;
    }

    boolean isOpen() {
        // opaque: a loop that waits for the end comes to see it; no other memory hangs on it
        return TRACED.getOpaque(this) != ENDED;
    }

    boolean isOpenInOrder() {
        // volatile: RefCount, ordering 5
        return TRACED.getVolatile(this) != ENDED;
    }

    boolean isTraced() {
        // opaque: a look at one's own lease, as in isOpen
        Object now = TRACED.getOpaque(this);
        return now != ENDED && now != UNTRACED;
    }

    /// Ends the lease that this record stands in: [Lease], ordering 1.
    ///
    /// @return what the listener kept, [#UNTRACED] if nothing, null if the lease was ended before
    @Nullable
    Object end() {
        // volatile exchange: ordering 1 of Lease, one caller sees it open
        Object before = this == CLOSED ? ENDED : TRACED.getAndSet(this, ENDED);
        return before == ENDED ? null : before;
    }
}
