// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.netty.buffer.AbstractByteBuf;
import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// A `ByteBuf` whose count is a field of its own: with Netty's class for that, each would have an object more, and
/// one is made for each write.
///
/// Ordering
/// 1. **The last holder meets what the others did.** A release is an atomic step of the count, and so is the last
///    one: what was done before the others is before [#deallocate()].
abstract class CountedByteBuf extends AbstractByteBuf {

    private static final VarHandle HOLDERS;

    static {
        try {
            HOLDERS = MethodHandles.lookup().findVarHandle(CountedByteBuf.class, "holders", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // through HOLDERS only
    private int holders = 1;

    CountedByteBuf(int maxCapacity) {
        super(maxCapacity);
    }

    /// Nothing holds it any more. Once.
    abstract void deallocate();

    @Override
    public final int refCnt() {
        // opaque: finds a mistake, not a race
        return (int) HOLDERS.getOpaque(this);
    }

    @Override
    public final ByteBuf retain() {
        return retain(1);
    }

    @Override
    public final ByteBuf retain(int increment) {
        if (increment < 1) {
            throw new IllegalArgumentException("retains fewer than one: increment=" + increment);
        }
        while (true) {
            // opaque: a guess for the step below
            int before = (int) HOLDERS.getOpaque(this);
            if (before == 0 || before + increment < 0) {
                throw new IllegalReferenceCountException(before, increment);
            }
            // volatile: the atomic step alone
            if (HOLDERS.compareAndSet(this, before, before + increment)) {
                return this;
            }
        }
    }

    @Override
    public final boolean release() {
        return release(1);
    }

    @Override
    public final boolean release(int decrement) {
        if (decrement < 1) {
            throw new IllegalArgumentException("releases fewer than one: decrement=" + decrement);
        }
        while (true) {
            // opaque: a guess for the step below
            int before = (int) HOLDERS.getOpaque(this);
            if (before < decrement) {
                throw new IllegalReferenceCountException(before, -decrement);
            }
            // volatile: ordering 1
            if (HOLDERS.compareAndSet(this, before, before - decrement)) {
                if (before > decrement) {
                    return false;
                }
                deallocate();
                return true;
            }
        }
    }

    @Override
    public final ByteBuf touch() {
        return this;
    }

    @Override
    public final ByteBuf touch(Object hint) {
        return this;
    }
}
