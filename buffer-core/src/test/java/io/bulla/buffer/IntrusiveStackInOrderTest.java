// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.internal.IntrusiveStack;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// The stack as a queue: of several threads' items, which one thread takes in their order.
class IntrusiveStackInOrderTest {

    private static final int THREADS = 3;
    private static final int EACH = 200_000;

    private static final class Entry {

        private final int thread;
        private final int number;
        private Entry next;

        Entry(int thread, int number) {
            this.thread = thread;
            this.number = number;
        }
    }

    private static final class Entries extends IntrusiveStack<Entry> {
        @Override
        protected Entry next(Entry entry) {
            return entry.next;
        }

        @Override
        protected void link(Entry entry, Entry next) {
            entry.next = next;
        }
    }

    private final Entries queue = new Entries();

    @Test
    void onlyTheFirstOfAnEmptyOneWakesTheTaker() {
        assertTrue(queue.put(new Entry(0, 0)));
        assertFalse(queue.put(new Entry(0, 1)));
        queue.takeInOrder();
        assertTrue(queue.put(new Entry(0, 2)));
    }

    @Test
    void itIsEmptyUntilAnItemIsPutAndOnceAllAreTaken() {
        assertTrue(queue.isEmpty());
        queue.put(new Entry(0, 0));
        assertFalse(queue.isEmpty());
        queue.takeInOrder();
        assertTrue(queue.isEmpty());
    }

    @Test
    void allAreTakenOnceInTheirOrder() {
        for (int i = 0; i < 3; i++) {
            queue.put(new Entry(0, i));
        }
        var numbers = new ArrayList<Integer>();
        for (Entry one = queue.takeInOrder(); one != null; one = one.next) {
            numbers.add(one.number);
        }
        assertEquals(List.of(0, 1, 2), numbers);
        assertNull(queue.takeInOrder());
    }

    @Test
    void whatIsLinkedAlreadyIsPutInOneStep() {
        queue.put(new Entry(0, 0));
        Entry oldest = new Entry(0, 1);
        Entry newest = new Entry(0, 2);
        newest.next = oldest;
        assertFalse(queue.putAll(newest, oldest));
        queue.put(new Entry(0, 3));
        var numbers = new ArrayList<Integer>();
        for (Entry one = queue.takeInOrder(); one != null; one = one.next) {
            numbers.add(one.number);
        }
        assertEquals(List.of(0, 1, 2, 3), numbers);
        newest.next = oldest;
        assertTrue(queue.putAll(newest, oldest));
    }

    @Test
    void theTakerGetsEachThreadsItemsOnceAndInOrder() throws InterruptedException {
        var running = new AtomicInteger(THREADS);
        List<Thread> threads = IntStream.range(0, THREADS)
                .mapToObj(t -> Thread.ofPlatform().start(() -> {
                    for (int i = 0; i < EACH; i++) {
                        queue.put(new Entry(t, i));
                    }
                    running.decrementAndGet();
                }))
                .toList();
        int[] expected = new int[THREADS];
        boolean more = true;
        while (more) {
            more = running.get() > 0;
            for (Entry one = queue.takeInOrder(); one != null; one = one.next) {
                assertEquals(expected[one.thread]++, one.number);
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(THREADS * EACH, IntStream.of(expected).sum());
    }
}
