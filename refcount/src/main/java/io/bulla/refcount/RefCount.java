package io.bulla.refcount;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// Counts the holders of one resource; the last to leave frees it.
///
/// State, one `long`, even while somebody holds, odd for ever after:
///
/// ```
/// held(n) = 2n --retain(k)--> held(n + k)     held(n) --release--> held(n - 1), or freed = 1 when n = 1
/// freed   = odd: a retain that meets it fails and undoes itself; freed is final
/// ```
///
/// Ordering
/// 1. **All use comes before the free.** Every release is a release; whoever takes the count from one holder to freed
///    fences with acquire, then frees.
/// 2. **Retain orders nothing.** Its caller holds a claim, so the count cannot reach freed beside it; if the caller's
///    claim is being closed by another thread, parity tells retain that it lost.
/// 3. **One thread frees.** The step to freed is a compare-and-set from exactly one holder. An unconditional
///    decrement would pass through "zero, not yet freed", where two late retains could mistake each other for a
///    holder.
///
/// The count is 64 bits wide: a claim is an object, so it cannot overflow before the heap does.
public abstract class RefCount {

    private static final long ONE = 2;
    private static final long FREED = 1;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(RefCount.class, "state", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // through STATE only, after construction
    private long state = ONE;
    private final LeaseTrace trace;

    /// A resource with one holder: the [Lease] constructed on this count next.
    ///
    /// @param trace told of every lease on this resource as it opens and closes, or `null` for nobody
    protected RefCount(LeaseTrace trace) {
        this.trace = trace;
    }

    /// Frees the resource. Called once, by the thread that closes the last lease, after all use of the resource.
    ///
    /// It must not block: a reader's `close()` stands on the stack.
    protected abstract void free();

    /// Who is told of the leases on this resource.
    ///
    /// @return the listener given at construction, or `null`
    public final LeaseTrace trace() {
        return trace;
    }

    /// Adds `k` holders, or none when the resource is freed.
    final boolean retain(int k) {
        // volatile (getAndAdd is one instruction, its weaker forms are loops on JDK 25): ordering 2 needs none of it
        long before = (long) STATE.getAndAdd(this, ONE * k);
        if ((before & FREED) == 0) {
            return true;
        }
        // volatile: same instruction; odd plus even stays odd, so a retain in between fails as well (ordering 3)
        STATE.getAndAdd(this, -ONE * k);
        return false;
    }

    /// Takes one holder away; frees the resource with the last.
    final void release() {
        while (true) {
            // opaque: only a guess for the compare-and-set below
            long before = (long) STATE.getOpaque(this);
            if ((before & FREED) != 0) {
                throw overReleased(before);
            }
            // release: ordering 1, this holder's use is above this line
            if (STATE.weakCompareAndSetRelease(this, before, before == ONE ? FREED : before - ONE)) {
                if (before == ONE) {
                    // acquire: ordering 1, every other holder's use is above this line
                    VarHandle.acquireFence();
                    free();
                }
                return;
            }
        }
    }

    /// How many hold the resource at this moment: a snapshot for reports and tests.
    ///
    /// @return the number of open leases, 0 when freed
    public final long holders() {
        // opaque: a snapshot promises nothing about any other memory
        long now = (long) STATE.getOpaque(this);
        return (now & FREED) != 0 ? 0 : now / ONE;
    }

    private static IllegalStateException overReleased(long state) {
        return new IllegalStateException("released more often than retained: state=" + state);
    }
}
