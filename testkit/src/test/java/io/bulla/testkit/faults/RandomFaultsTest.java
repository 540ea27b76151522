// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RandomFaultsTest {

    private static final long STEPS = 20_000;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void usersBesideEachOtherKeepWhatTheyHoldWhileCallsFail(long seed) throws InterruptedException {
        AtomicLong left = new AtomicLong(STEPS);
        RandomFaults run = new RandomFaults();
        assertEquals(List.of(), List.copyOf(run.round(seed, () -> left.getAndDecrement() > 0)));
        System.out.println(run.line().lines().findFirst().orElseThrow());
    }
}
