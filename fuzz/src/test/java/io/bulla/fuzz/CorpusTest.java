// SPDX-License-Identifier: Apache-2.0
package io.bulla.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.pack.SeedInputs;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// The corpus without the fuzzer: what was found once stays found, and every input has siblings that are read
/// too.
class CorpusTest {

    private static final int TARGETS = 16;

    @Test
    void everyInputIsReadWithoutAFinding() {
        Fuzz fuzz = new Fuzz();
        List<FuzzInput> inputs = SeedInputs.all();
        inputs.forEach(fuzz::family);
        assertEquals(4L * inputs.size(), fuzz.inputs());
        assertTrue(inputs.size() > 1400, "inputs=" + inputs.size());
    }

    @Test
    void everyTargetHasInputs() {
        Set<Integer> targets = new HashSet<>();
        SeedInputs.all().forEach(input -> targets.add(input.choice(0, TARGETS)));
        assertEquals(TARGETS, targets.size());
    }

    @Test
    void siblingsAreAlwaysTheSame() {
        Mutator mutator = new Mutator();
        Set<FuzzInput> siblings = new HashSet<>();
        FuzzInput input = FuzzInput.of(new byte[] {1, 2, 3, 4, 5, 6, 7, 8}, 6, 3);
        for (int round = 0; round < 2; round++) {
            mutator.begin(input);
            for (int i = 0; i < 1000; i++) {
                siblings.add(mutator.next(input));
            }
        }
        assertTrue(siblings.size() > 500 && siblings.size() <= 1000, "siblings=" + siblings.size());
    }
}
