// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/// Where a slot comes from, and where it goes.
class SlotCachesTest {

    @Test
    void stripesAreAPowerOfTwoOfAtLeastTheProcessors() {
        int[] processors = {1, 2, 3, 4, 5, 8, 9, 16, 17, 256};
        int[] stripes = {2, 2, 4, 4, 8, 8, 16, 16, 16, 16};
        for (int i = 0; i < processors.length; i++) {
            assertEquals(stripes[i], SlotCaches.stripes(processors[i]), "processors=" + processors[i]);
        }
    }
}
