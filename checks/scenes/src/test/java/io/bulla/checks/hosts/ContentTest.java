// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import org.junit.jupiter.api.Test;

class ContentTest {

    private static final int BYTES = 300_000;
    private static final int PART = 32 << 10;

    @Test
    void messageIsTheOneOfItsNumberAndNoOther() {
        byte[] message = Content.message(300, 100);
        assertTrue(Content.isMessage(message, 300));
        assertFalse(Content.isMessage(message, 44), "its last bytes are those of 300");
        message[99]++;
        assertFalse(Content.isMessage(message, 300));
    }

    @Test
    void wholeIsSeenHoweverItIsCut() {
        try (ArenaSource memory = ArenaSource.create();
                SealedBuffer whole = Content.whole(memory, 7, BYTES);
                SealedBuffer begin = whole.slice(0, 100_001);
                SealedBuffer rest = whole.slice(100_001, BYTES - 100_001);
                SealedBuffer again = SealedBuffer.concat(begin, rest)) {
            assertTrue(Content.isWhole(whole, 7));
            assertTrue(Content.isWhole(again, 7));
            assertFalse(Content.isWhole(whole, 8));
        }
    }

    @Test
    void whatIsMissingDoubledOrExchangedIsSeen() {
        try (ArenaSource memory = ArenaSource.create();
                SealedBuffer whole = Content.whole(memory, 7, BYTES);
                SealedBuffer head = whole.slice(0, Integer.BYTES);
                SealedBuffer first = whole.slice(Integer.BYTES, PART);
                SealedBuffer second = whole.slice(Integer.BYTES + PART, PART);
                SealedBuffer rest = whole.slice(Integer.BYTES + 2 * PART, BYTES - Integer.BYTES - 2 * PART);
                SealedBuffer exchanged = SealedBuffer.concat(head, second, first, rest);
                SealedBuffer doubled = SealedBuffer.concat(head, first, first, rest);
                SealedBuffer missing = SealedBuffer.concat(head, first, rest);
                SealedBuffer same = SealedBuffer.concat(head, first, second, rest)) {
            assertTrue(Content.isWhole(same, 7), "the same parts in the same order");
            assertFalse(Content.isWhole(exchanged, 7));
            assertFalse(Content.isWhole(doubled, 7));
            assertFalse(Content.isWhole(missing, 7));
        }
    }
}
