// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.runtime.oob.topology.Binomial;
import io.bulla.runtime.oob.topology.Radix;
import io.bulla.runtime.oob.topology.Routing;
import io.bulla.runtime.oob.topology.Star;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

class RoutingTest {

    @Test
    void everyOtherNodeIsReachedExactlyOnceFromAnyOrigin() {
        for (int radix = 1; radix <= 5; radix++) {
            Radix tree = new Radix(radix);
            for (int size = 1; size <= 40; size++) {
                for (int origin = 0; origin < size; origin++) {
                    int[] reached = new int[size];
                    for (int rank = 0; rank < size; rank++) {
                        for (int child : tree.children(rank, origin, size)) {
                            reached[child]++;
                            assertEquals(tree.level(rank, origin, size) + 1, tree.level(child, origin, size));
                        }
                    }
                    int[] expected = new int[size];
                    Arrays.fill(expected, 1);
                    expected[origin] = 0;
                    assertArrayEquals(expected, reached);
                }
            }
        }
    }

    @Test
    void everyShapeReachesEveryOtherNodeExactlyOnceFromAnyOrigin() {
        for (Routing routing : List.of(new Binomial(), new Star(), new Radix(1), new Radix(7))) {
            for (int size = 1; size <= 70; size++) {
                for (int origin = 0; origin < size; origin++) {
                    int[] reached = new int[size];
                    reached[origin]++;
                    Deque<Integer> next = new ArrayDeque<>(List.of(origin));
                    while (!next.isEmpty()) {
                        for (int child : routing.children(next.poll(), origin, size)) {
                            reached[child]++;
                            next.add(child);
                        }
                    }
                    int[] once = new int[size];
                    Arrays.fill(once, 1);
                    assertArrayEquals(once, reached, routing + " size=" + size + " origin=" + origin);
                }
            }
        }
    }

    @Test
    void binomialSendsToTheLargestSubtreeFirst() {
        assertArrayEquals(new int[] {2, 0, 7}, new Binomial().children(6, 6, 8));
        assertArrayEquals(new int[] {4, 3}, new Binomial().children(2, 6, 8));
    }

    @Test
    void radixBelowOneIsRefused() {
        assertEquals(
                "a radix is at least 1: radix=0",
                assertThrows(IllegalArgumentException.class, () -> new Radix(0)).getMessage());
    }

    @Test
    void hugeRadixDoesNotOverflow() {
        assertArrayEquals(new int[0], new Radix(Integer.MAX_VALUE).children(3, 0, 5));
    }
}
