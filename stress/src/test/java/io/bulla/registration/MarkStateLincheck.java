// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/// A registration beside users, an eviction, a stop and a device that says free at any moment: retired at most
/// once, never while it is used, and free at most once.
public class MarkStateLincheck {

    /// The registration, or a broken one.
    interface State {

        boolean tryUse();

        boolean endUse();

        boolean tryEvict();

        boolean stop();

        boolean free();
    }

    private final AtomicInteger using = new AtomicInteger();
    private final AtomicInteger retired = new AtomicInteger();
    private final AtomicInteger freed = new AtomicInteger();
    private final AtomicInteger usedLate = new AtomicInteger();
    private final State state = state();

    State state() {
        MarkState live = new MarkState();
        live.live();
        return new State() {
            @Override
            public boolean tryUse() {
                return live.tryUse();
            }

            @Override
            public boolean endUse() {
                return live.endUse();
            }

            @Override
            public boolean tryEvict() {
                return live.tryEvict();
            }

            @Override
            public boolean stop() {
                return live.stop();
            }

            @Override
            public boolean free() {
                return live.free();
            }
        };
    }

    // no results: an eviction beside a use fails, which in no order of whole operations it does
    @Operation
    public void use() {
        if (!state.tryUse()) {
            return;
        }
        using.incrementAndGet();
        if (retired.get() > 0) {
            usedLate.incrementAndGet();
        }
        using.decrementAndGet();
        retireIf(state.endUse());
    }

    @Operation
    public void evict() {
        retireIf(state.tryEvict());
    }

    @Operation
    public void stop() {
        retireIf(state.stop());
    }

    /// The device says it, asked or not.
    @Operation
    public void deviceSaysFree() {
        if (state.free()) {
            freed.incrementAndGet();
        }
    }

    private void retireIf(boolean mine) {
        if (mine) {
            if (using.get() > 0) {
                usedLate.incrementAndGet();
            }
            retired.incrementAndGet();
        }
    }

    /// Whatever came before: once it is stopped, it was retired once, and is free once.
    @Validate
    public void retiredOnceAndFreeOnce() {
        stop();
        deviceSaysFree();
        deviceSaysFree();
        if (retired.get() != 1 || freed.get() != 1 || usedLate.get() != 0) {
            throw new AssertionError("retired=" + retired + " freed=" + freed + " usedLate=" + usedLate);
        }
    }

    @Test
    void twoThreadsRetireOnce() {
        options().iterations(80).threads(2).actorsPerThread(3).check(MarkStateLincheck.class);
    }

    @Test
    void threeThreadsRetireOnce() {
        options().iterations(40).threads(3).actorsPerThread(2).check(MarkStateLincheck.class);
    }

    /// Looks whether it is idle, then says that it is closing.
    public static class EvictsWhatIsUsed extends MarkStateLincheck {

        private static final int CLOSING = 1 << 20;

        @Override
        State state() {
            AtomicInteger uses = new AtomicInteger();
            AtomicInteger frees = new AtomicInteger();
            return new State() {
                @Override
                public boolean tryUse() {
                    if (uses.get() >= CLOSING) {
                        return false;
                    }
                    uses.incrementAndGet();
                    return true;
                }

                @Override
                public boolean endUse() {
                    uses.decrementAndGet();
                    return false;
                }

                @Override
                public boolean tryEvict() {
                    if (uses.get() != 0) {
                        return false;
                    }
                    uses.addAndGet(CLOSING);
                    return true;
                }

                @Override
                public boolean stop() {
                    return tryEvict();
                }

                @Override
                public boolean free() {
                    return uses.get() >= CLOSING && frees.incrementAndGet() == 1;
                }
            };
        }
    }

    @Test
    void catchesAnEvictionOfWhatIsUsed() {
        Error caught = assertThrows(
                LincheckAssertionError.class,
                () -> options().iterations(80).threads(2).actorsPerThread(3).check(EvictsWhatIsUsed.class));
        assertTrue(caught.getMessage().contains("retired="), caught::getMessage);
    }

    private static ModelCheckingOptions options() {
        return new ModelCheckingOptions()
                .invocationsPerIteration(500)
                .actorsBefore(1)
                .actorsAfter(1)
                .checkObstructionFreedom(true);
    }
}
