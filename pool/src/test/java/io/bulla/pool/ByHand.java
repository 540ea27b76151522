// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import java.util.function.BooleanSupplier;

/// A source's thread that is never started: the test takes its steps.
final class ByHand extends Sweeper {

    private final BooleanSupplier step;
    int started;
    int woken;
    int ended;
    boolean stepsWhenWoken;

    ByHand(BooleanSupplier step) {
        super(step, Long.MAX_VALUE);
        this.step = step;
    }

    boolean step() {
        return step.getAsBoolean();
    }

    @Override
    void start() {
        started++;
    }

    @Override
    void wake() {
        woken++;
        if (stepsWhenWoken) {
            step();
        }
    }

    @Override
    void ended() {
        ended++;
    }
}
