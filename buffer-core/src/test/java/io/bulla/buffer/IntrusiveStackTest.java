// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.bulla.buffer.internal.IntrusiveStack;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// The stack of what waits to be closed.
class IntrusiveStackTest {

    private static final int THREADS = 4;
    private static final int ROUNDS = 10;
    private static final int EACH = 50_000;

    private static final class Entry {

        private final AtomicInteger taken = new AtomicInteger();
        private Entry next;
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

    private final Entries stack = new Entries();

    @Test
    void theLastPutIsTheFirstTakenAndLeavesUnlinked() {
        List<Entry> entries = List.of(new Entry(), new Entry(), new Entry());
        entries.forEach(stack::put);
        for (Entry expected : entries.reversed()) {
            Entry one = stack.poll();
            assertSame(expected, one);
            assertNull(one.next);
        }
        assertNull(stack.poll());
    }

    @Test
    void allAreTakenInOneStep() {
        List<Entry> entries = List.of(new Entry(), new Entry());
        entries.forEach(stack::put);
        Entry newest = stack.takeAll();
        assertSame(entries.get(1), newest);
        assertSame(entries.get(0), newest.next);
        assertNull(entries.get(0).next);
        assertNull(stack.takeAll());
        assertNull(stack.poll());
    }

    @Test
    void threadsThatPutAndPollTakeEachEntryOnce() throws InterruptedException {
        for (int round = 0; round < ROUNDS; round++) {
            List<Entry> entries = IntStream.range(0, THREADS * EACH)
                    .mapToObj(i -> new Entry())
                    .toList();
            var start = new CyclicBarrier(THREADS);
            List<Thread> threads = IntStream.range(0, THREADS)
                    .mapToObj(t -> Thread.ofPlatform().start(() -> putAndPoll(entries, t, start)))
                    .toList();
            for (Thread thread : threads) {
                thread.join();
            }
            for (Entry left = stack.poll(); left != null; left = stack.poll()) {
                left.taken.incrementAndGet();
            }
            entries.forEach(entry -> assertEquals(1, entry.taken.get()));
        }
    }

    private void putAndPoll(List<Entry> entries, int thread, CyclicBarrier start) {
        try {
            start.await();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        for (int i = 0; i < EACH; i++) {
            stack.put(entries.get(thread * EACH + i));
            if (i % 2 == 1) {
                Entry one = stack.poll();
                if (one != null) {
                    one.taken.incrementAndGet();
                }
            }
        }
    }
}
