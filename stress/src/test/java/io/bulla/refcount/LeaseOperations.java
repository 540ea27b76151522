// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;

/// What holders do with leases on one resource. A lease that is refused while it is open, a resource that is freed
/// beneath one, and a claim too many are errors, which no order of the same calls has.
@Param(name = "handle", gen = IntGen.class, conf = "0:2")
public abstract class LeaseOperations {

    private final AtomicInteger frees = new AtomicInteger();
    private final RefCount thing = count(frees);
    private final Claim[] handles = new Claim[leases()];

    LeaseOperations() {
        handles[0] = new Claim(thing);
        for (int i = 1; i < handles.length; i++) {
            handles[i] = handles[0].share();
        }
    }

    /// How many leases there are at first.
    int leases() {
        return 3;
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
        at(handle).close();
    }

    @Operation
    public boolean shareAndClose(@Param(name = "handle") int handle) {
        Claim mine;
        try {
            mine = at(handle).share();
        } catch (IllegalStateException refused) {
            return refused(handle);
        }
        return held(mine);
    }

    @Operation
    public boolean moveAndClose(@Param(name = "handle") int handle) {
        Claim mine;
        try {
            mine = at(handle).move();
        } catch (IllegalStateException refused) {
            return refused(handle);
        }
        return held(mine);
    }

    @Operation
    public boolean fanOut(@Param(name = "handle") int handle) {
        Claim[] shares;
        try {
            shares = at(handle).shares(2);
        } catch (IllegalStateException refused) {
            return refused(handle);
        }
        return held(shares[0]) && held(shares[1]);
    }

    @Operation
    public boolean stripe(@Param(name = "handle") int handle) {
        Claim mine;
        try {
            mine = at(handle).share();
        } catch (IllegalStateException refused) {
            return refused(handle);
        }
        thing.stripe();
        return held(mine);
    }

    private Claim at(int handle) {
        return handles[handle % handles.length];
    }

    // an open lease is a claim, and once closed it stays so: open now, it was open when it was refused
    private boolean refused(int handle) {
        if (at(handle).isOpen()) {
            throw new AssertionError("refused, and open: frees=" + frees.get());
        }
        return false;
    }

    private boolean held(Claim mine) {
        if (!mine.isOpen() || frees.get() != 0) {
            throw new AssertionError("freed beneath an open lease: open=" + mine.isOpen() + " frees=" + frees.get());
        }
        mine.close();
        return true;
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

    static ModelCheckingOptions twoThreads() {
        return options().iterations(80).threads(2).actorsPerThread(3);
    }

    /// Short scenarios in many interleavings.
    static ModelCheckingOptions oneLease() {
        return options()
                .iterations(40)
                .threads(2)
                .actorsPerThread(2)
                .invocationsPerIteration(2000)
                .actorsBefore(0);
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
