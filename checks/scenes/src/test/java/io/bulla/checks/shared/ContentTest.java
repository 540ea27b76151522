// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class ContentTest {

    /// A lender that uses a slot again beneath its borrower puts a whole message there, as right as the one before.
    @Test
    void anotherMessageInItsPlaceIsSeen() {
        MemorySegment slot = Arena.ofAuto().allocate(8 * 1001);
        try (ArenaSource memory = ArenaSource.create();
                SealedBuffer first = Content.of(memory, 1, 1000);
                SealedBuffer second = Content.of(memory, 2, 1000);
                SealedBuffer held = SealedBuffer.adopt(slot, () -> {})) {
            slot.copyFrom(first.iovec().region(0));
            long seed = Content.seed(held);
            assertEquals(1, seed);
            assertTrue(Content.isRight(held, seed));
            assertTrue(Content.isRight(slot, seed));
            slot.copyFrom(second.iovec().region(0));
            assertFalse(Content.isRight(held, seed));
            assertFalse(Content.isRight(slot, seed));
        }
    }
}
