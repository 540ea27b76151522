// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;

/// The count against a plain number, over arbitrary programs of one thread that calls every cell its own.
class RefCountPropertyTest {

    private enum Act {
        RETAIN,
        RELEASE,
        RELEASE_SEVERAL,
        STRIPE
    }

    record Step(Act act, int k, int home) {}

    @Provide
    Arbitrary<List<Step>> programs() {
        return Combinators.combine(
                        Arbitraries.of(Act.class),
                        Arbitraries.integers().between(0, 9),
                        Arbitraries.integers().between(0, 7))
                .as(Step::new)
                .list()
                .ofMaxSize(80);
    }

    @Property(tries = 2000, shrinking = ShrinkingMode.BOUNDED)
    void countIsANumberThatFreesAtZeroOnce(@ForAll("programs") List<Step> program) {
        Counted thing = new Counted();
        long held = 1;
        for (Step step : program) {
            thing.at(step.home());
            switch (step.act()) {
                case RETAIN -> {
                    assertEquals(held > 0, thing.retain(step.k()));
                    held += held > 0 ? step.k() : 0;
                }
                case RELEASE -> {
                    if (held > 0) {
                        thing.release();
                        held--;
                    }
                }
                case RELEASE_SEVERAL -> {
                    int k = (int) Math.min(held, step.k());
                    if (k > 0) {
                        thing.release(k);
                        held -= k;
                    }
                }
                case STRIPE -> thing.stripe();
            }
            assertEquals(held, thing.holders());
            assertEquals(held == 0 ? 1 : 0, thing.frees.get());
        }
        for (; held > 0; held--) {
            thing.release();
        }
        assertEquals(1, thing.frees.get());
        assertFalse(thing.isStriped());
        assertEquals(0, Stripes.inUse());
    }
}
