// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;

/// What holders do with three leases on one resource; the answers say whether it was freed beneath a lease that
/// is open.
@Param(name = "handle", gen = IntGen.class, conf = "0:2")
public abstract class LeaseOperations {

    private final AtomicInteger frees = new AtomicInteger();
    private final RefCount thing = count(frees);
    private final Claim[] handles = {new Claim(thing), null, null};

    LeaseOperations() {
        handles[1] = handles[0].share();
        handles[2] = handles[0].share();
    }

    /// The count to check; it counts its frees.
    abstract RefCount count(AtomicInteger frees);

    /// Small enough for a model checker: two cells, and every thread prefers the same one.
    abstract static class SmallCount extends RefCount {

        private final AtomicInteger frees;

        SmallCount(AtomicInteger frees) {
            super(null);
            this.frees = frees;
        }

        @Override
        protected final void free() {
            frees.incrementAndGet();
        }

        @Override
        final int cellCount() {
            return 2;
        }

        @Override
        final int home() {
            return 0;
        }
    }

    private static final class Claim extends Lease {

        Claim(RefCount count) {
            super(count);
        }

        Claim share() {
            Claim other = new Claim(count());
            retain(null, other);
            return other;
        }

        Claim[] shares(int n) {
            Claim[] others = new Claim[n];
            for (int i = 0; i < n; i++) {
                others[i] = new Claim(count());
            }
            retain(null, others);
            return others;
        }

        Claim move() {
            Claim other = new Claim(count());
            moveTo("mover", other);
            return other;
        }
    }

    @Operation
    public void close(@Param(name = "handle") int handle) {
        handles[handle].close();
    }

    @Operation
    public boolean shareAndClose(@Param(name = "handle") int handle) {
        try (Claim mine = handles[handle].share()) {
            return isHeldBy(mine);
        } catch (IllegalStateException closed) {
            return false;
        }
    }

    @Operation
    public boolean moveAndClose(@Param(name = "handle") int handle) {
        try (Claim mine = handles[handle].move()) {
            return isHeldBy(mine);
        } catch (IllegalStateException closed) {
            return false;
        }
    }

    @Operation
    public boolean fanOut(@Param(name = "handle") int handle) {
        try {
            Claim[] shares = handles[handle].shares(2);
            shares[0].close();
            boolean held = isHeldBy(shares[1]);
            shares[1].close();
            return held;
        } catch (IllegalStateException closed) {
            return false;
        }
    }

    @Operation
    public boolean stripe(@Param(name = "handle") int handle) {
        try (Claim mine = handles[handle].share()) {
            thing.stripe();
            return isHeldBy(mine);
        } catch (IllegalStateException closed) {
            return false;
        }
    }

    /// Whatever came before: when the rest is closed, the thing is freed, once, and no cell is left.
    @Validate
    public void restClosedFreesOnce() {
        for (Claim handle : handles) {
            handle.close();
        }
        if (frees.get() != 1 || thing.isStriped()) {
            throw new AssertionError("frees=" + frees.get() + " striped=" + thing.isStriped());
        }
    }

    private boolean isHeldBy(Claim mine) {
        return mine.isOpen() && frees.get() == 0;
    }

    static ModelCheckingOptions twoThreads() {
        return options().iterations(80).threads(2).actorsPerThread(3);
    }

    static ModelCheckingOptions threeThreads() {
        return options().iterations(40).threads(3).actorsPerThread(2);
    }

    private static ModelCheckingOptions options() {
        return new ModelCheckingOptions()
                .invocationsPerIteration(500)
                .actorsBefore(1)
                .actorsAfter(1)
                .checkObstructionFreedom(true);
    }
}
