// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.junit.jupiter.api.Test;

/// The count, its striping and the handle against their own sequential behaviour, over every interleaving that
/// the model checker reaches; and that no operation ever waits for another thread.
public class RefCountLincheck extends LeaseOperations {

    @Override
    RefCount count(AtomicInteger frees) {
        return new SmallCount(frees) {};
    }

    @Test
    void twoThreadsAreLinearizableAndObstructionFree() {
        twoThreads().check(RefCountLincheck.class);
    }

    @Test
    void threeThreadsAreLinearizableAndObstructionFree() {
        threeThreads().check(RefCountLincheck.class);
    }

    /// With one lease every close may be the last, beside a share of the same lease.
    public static class OneLease extends LeaseOperations {

        @Override
        RefCount count(AtomicInteger frees) {
            return new SmallCount(frees) {};
        }

        @Override
        int leases() {
            return 1;
        }
    }

    @Test
    void lastCloseBesideAShareIsLinearizable() {
        oneLease().check(OneLease.class);
    }

    /// Leases alone hold it: the close of the only one takes no step of the count.
    public static class LeasesOnly extends LeaseOperations {

        @Override
        RefCount count(AtomicInteger frees) {
            return new SmallCount(frees) {
                @Override
                protected boolean heldByLeasesOnly() {
                    return true;
                }
            };
        }
    }

    /// The same, with one lease.
    public static class OneOfLeasesOnly extends LeasesOnly {

        @Override
        int leases() {
            return 1;
        }
    }

    @Test
    void leasesOnlyAreLinearizableAndObstructionFree() {
        twoThreads().check(LeasesOnly.class);
    }

    @Test
    void soleCloseBesideAShareIsLinearizable() {
        oneLease().check(OneOfLeasesOnly.class);
    }

    /// Lacks the look after the cells are shown: the last own holder may have looked for them too early, and
    /// then no thread folds them.
    public static class WithoutSecondLook extends LeaseOperations {

        @Override
        RefCount count(AtomicInteger frees) {
            return new SmallCount(frees) {
                @Override
                void lookAgain() {}
            };
        }
    }

    /// Waits for the other thread instead of leaving the work to it.
    public static class WaitingForItsTurn extends LeaseOperations {

        @Override
        RefCount count(AtomicInteger frees) {
            return new SmallCount(frees) {
                private final AtomicInteger turn = new AtomicInteger();

                @Override
                void lookAgain() {
                    while (!turn.compareAndSet(0, 1)) {
                        Thread.onSpinWait();
                    }
                    super.lookAgain();
                    turn.set(0);
                }
            };
        }
    }

    @Test
    void catchesAStripingWithoutSecondLook() {
        assertCaught("Validation", WithoutSecondLook.class);
    }

    @Test
    void catchesAWait() {
        assertCaught("non-blocking", WaitingForItsTurn.class);
    }

    private static void assertCaught(String how, Class<? extends LeaseOperations> broken) {
        Error caught =
                assertThrows(LincheckAssertionError.class, () -> twoThreads().check(broken));
        assertTrue(caught.getMessage().contains(how), caught::getMessage);
    }
}
