// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// That no key is given twice is also counted over ten million by `./check registration --only keys`.
class KeysTest {

    /// The test vector of the paper, Speck64/128.
    @Test
    void cipherIsTheOneOfThePaper() {
        int[] schedule = Keys.schedule(0x1b1a1918, 0x13121110, 0x0b0a0908, 0x03020100);
        // side by side with another one
        int[] high = {0x3b726574, 7};
        int[] low = {0x7475432d, 7};
        Keys.encrypt(high, low, schedule);
        assertEquals(0x8c6fa548, high[0]);
        assertEquals(0x454e028b, low[0]);
    }

    @Test
    void keySaysNothingOfTheNext() {
        Set<Long> keys = new HashSet<>();
        Set<Long> steps = new HashSet<>();
        Keys fresh = new Keys();
        Keys others = new Keys();
        long before = fresh.next();
        long bits = 0;
        for (int i = 0; i < 10_000; i++) {
            long key = (i % 3 == 0 ? others : fresh).next();
            assertTrue(keys.add(key), () -> "given twice: key=" + key);
            // of those with a counter one step is all
            assertTrue(steps.add(key - before), () -> "step seen before: key=" + key);
            bits += Long.bitCount(key ^ before);
            before = key;
        }
        // half of 64 each time: 320,000 with a deviation of 400
        assertEquals(320_000, bits, 4_000);
        assertNotEquals(0, before);
    }
}
