package io.bulla.refcount;

import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/// The count, its striping and the handle against their own sequential behaviour, over every interleaving that
/// the model checker reaches; and that no operation ever waits for another thread.
@Param(name = "handle", gen = IntGen.class, conf = "0:2")
public class RefCountLincheck {

    private final AtomicInteger frees = new AtomicInteger();
    private final RefCount thing = new RefCount(null) {
        @Override
        protected void free() {
            frees.incrementAndGet();
        }

        @Override
        int cellCount() {
            return 2;
        }

        @Override
        int home() {
            return 0;
        }
    };
    private final Claim first = new Claim(thing);
    private final Claim[] handles = {first, first.share(), first.share()};

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
    }

    @Operation
    public void close(@Param(name = "handle") int handle) {
        handles[handle].close();
    }

    @Operation
    public boolean shareAndClose(@Param(name = "handle") int handle) {
        try (Claim mine = handles[handle].share()) {
            return mine.isOpen() && frees.get() == 0;
        } catch (IllegalStateException closed) {
            return false;
        }
    }

    @Operation
    public boolean fanOut(@Param(name = "handle") int handle) {
        try {
            Claim[] shares = handles[handle].shares(2);
            shares[0].close();
            boolean held = frees.get() == 0;
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
            return mine.isOpen() && frees.get() == 0;
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

    @Test
    void isLinearizableAndObstructionFree() {
        check(new ModelCheckingOptions().iterations(100).threads(2).actorsPerThread(3));
    }

    @Test
    void threeThreads() {
        check(new ModelCheckingOptions().iterations(50).threads(3).actorsPerThread(2));
    }

    private static void check(ModelCheckingOptions options) {
        options.invocationsPerIteration(500)
                .actorsBefore(1)
                .actorsAfter(1)
                .checkObstructionFreedom(true)
                .check(RefCountLincheck.class);
    }
}
