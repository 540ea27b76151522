// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// The numbers of one session and of sixteen, against sets of the JDK's.
class SeenNumbersTest {

    private final SeenNumbers numbers = new SeenNumbers();

    private static int ranges(TreeSet<Long> set) {
        return (int) set.stream().filter(each -> !set.contains(each - 1)).count();
    }

    @Test
    void itIsASet() {
        for (int seed = 0; seed < 50; seed++) {
            Random random = new Random(seed);
            SeenNumbers seen = new SeenNumbers();
            TreeSet<Long> wanted = new TreeSet<>();
            for (int step = 0; step < 200; step++) {
                long number = random.nextInt(60);
                assertEquals(wanted.contains(number), seen.contains(number), "seed " + seed + " step " + step);
                seen.add(number);
                wanted.add(number);
                assertTrue(seen.contains(number));
                assertEquals(ranges(wanted), seen.ranges(), "seed " + seed + " step " + step);
                assertFalse(seen.isForgotten(number));
            }
        }
    }

    @Test
    void numbersInOrderAreOneRange() {
        for (long number = 1; number <= 10_000; number++) {
            numbers.add(number);
            assertEquals(1, numbers.ranges());
        }
        assertFalse(numbers.contains(0));
        assertFalse(numbers.contains(10_001));
    }

    @Test
    void lowestRangeOfTooManyIsForgotten() {
        for (long i = 0; i < SeenNumbers.MOST; i++) {
            numbers.add(10 * i + 1);
            numbers.add(10 * i + 2);
        }
        assertEquals(SeenNumbers.MOST, numbers.ranges());
        assertFalse(numbers.isForgotten(1));
        assertFalse(numbers.contains(0));
        numbers.add(-5);
        assertEquals(SeenNumbers.MOST, numbers.ranges());
        assertTrue(numbers.isForgotten(-5));
        assertTrue(numbers.contains(-6), "below it counts as here");
        assertFalse(numbers.isForgotten(-4));
        assertFalse(numbers.contains(-4));
        assertFalse(numbers.contains(0));
        // all of the next lowest range, not its first number alone
        numbers.add(10L * SeenNumbers.MOST + 1);
        assertTrue(numbers.isForgotten(2));
        assertFalse(numbers.isForgotten(3));
        assertTrue(numbers.contains(-4));
        // what is forgotten is in no range
        numbers.add(0);
        assertEquals(SeenNumbers.MOST, numbers.ranges());
        assertTrue(numbers.contains(12));
        assertFalse(numbers.contains(13));
    }

    @Test
    void sessionThatIsUsedStaysAndTheOldestGoes() {
        SeenBroadcasts seen = new SeenBroadcasts();
        assertFalse(seen.contains(new BroadcastKey(1, 1, 1)));
        assertFalse(seen.isForgotten(new BroadcastKey(1, 1, 1)));
        for (long session = 1; session <= 16; session++) {
            seen.add(new BroadcastKey(1, session, 5));
        }
        for (long session = 1; session <= 16; session++) {
            assertTrue(seen.contains(new BroadcastKey(1, session, 5)));
            assertFalse(seen.contains(new BroadcastKey(1, session, 6)));
        }
        assertFalse(seen.contains(new BroadcastKey(2, 1, 5)), "of another origin");
        assertTrue(seen.contains(new BroadcastKey(1, 1, 5)));
        seen.add(new BroadcastKey(1, 17, 5));
        assertTrue(seen.contains(new BroadcastKey(1, 1, 5)), "the one used last has gone");
        assertFalse(seen.contains(new BroadcastKey(1, 2, 5)), "the one used longest ago has stayed");
        assertTrue(seen.contains(new BroadcastKey(1, 17, 5)));
    }

    @Test
    void whatASessionHasForgottenIsSaid() {
        SeenBroadcasts seen = new SeenBroadcasts();
        for (long i = 0; i <= SeenNumbers.MOST; i++) {
            seen.add(new BroadcastKey(1, 1, 2 * i + 1));
        }
        assertTrue(seen.isForgotten(new BroadcastKey(1, 1, 1)));
        assertFalse(seen.isForgotten(new BroadcastKey(1, 1, 2)));
        assertFalse(seen.isForgotten(new BroadcastKey(1, 2, 1)));
        assertFalse(seen.isForgotten(new BroadcastKey(2, 1, 1)));
    }
}
