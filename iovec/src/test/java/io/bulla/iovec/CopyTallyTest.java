// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class CopyTallyTest {

    @Test
    void copiesOfOthersAreCountedWhenTheySaySo() {
        CopyTally before = CopyTally.snapshot();
        CopyTally.copiedByAddress(30);
        CopyTally.copiedByAddress(0);
        assertEquals(
                "number of bytes copied is negative: bytes=-1",
                assertThrows(IllegalArgumentException.class, () -> CopyTally.copiedByAddress(-1))
                        .getMessage());
        assertEquals(new CopyTally(1, 30), CopyTally.snapshot().since(before));
    }
}
