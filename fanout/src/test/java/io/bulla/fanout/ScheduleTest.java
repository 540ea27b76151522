// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import io.bulla.buffer.MemorySource;
import io.bulla.testkit.NoOpenHandles;
import java.util.SplittableRandom;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Many parties' steps, interleaved by a seed: `-Dbulla.seed=N` begins elsewhere, `-Dbulla.rounds=N` has more of
/// them.
@ExtendWith(NoOpenHandles.class)
class ScheduleTest {

    private static final long SEED = Long.getLong("bulla.seed", 1);
    private static final int ROUNDS = Integer.getInteger("bulla.rounds", 400);

    @ParameterizedTest
    @EnumSource
    void everySubscriberGetsWhatItsPolicyPromises(SlowPolicy policy, MemorySource memory) {
        for (long seed = SEED; seed < SEED + ROUNDS; seed++) {
            Schedule schedule = new Schedule(policy, new SplittableRandom(seed * 31 + policy.ordinal()), memory);
            try {
                schedule.run(120);
            } catch (Throwable failure) {
                throw new AssertionError("seed=" + seed + " policy=" + policy, failure);
            }
        }
    }
}
