// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetryListTest {

    private static final long FIRST = RetryList.FIRST_NANOS;
    private static final long LONGEST = 4 * FIRST;

    private static final class Entry {
        @Nullable
        Entry next;
    }

    private static final class Entries extends IntrusiveStack<Entry> {
        @Override
        protected @Nullable Entry next(Entry entry) {
            return entry.next;
        }

        @Override
        protected void link(Entry entry, @Nullable Entry next) {
            entry.next = next;
        }
    }

    private final List<Entry> all = Stream.generate(Entry::new).limit(5).toList();
    private final List<Entry> tried = new ArrayList<>();
    private final Set<Entry> held = new HashSet<>(all);
    private long now = 1_000 * FIRST;
    private final RetryList<Entry> list = new RetryList<>(new Entries(), () -> now, LONGEST);

    @BeforeEach
    void putOne() {
        list.put(all.getFirst());
    }

    private boolean close(Entry entry) {
        tried.add(entry);
        return !held.contains(entry);
    }

    /// How many were tried.
    private int retry() {
        tried.clear();
        list.retry(this::close);
        return tried.size();
    }

    @Test
    void nothingIsTriedOfNone() {
        RetryList<Entry> none = new RetryList<>(new Entries(), () -> now, LONGEST);
        assertTrue(none.isEmpty());
        none.retry(this::close);
        assertEquals(List.of(), tried);
        assertEquals(FIRST, none.pauseNanos(), "a look at nothing is no try");
    }

    @Test
    void oneIsThereFromThePutToItsClose() {
        assertFalse(list.isEmpty());
        assertEquals(1, retry());
        assertFalse(list.isEmpty());
        held.clear();
        now += LONGEST;
        assertEquals(1, retry());
        assertTrue(list.isEmpty());
        now += LONGEST;
        assertEquals(0, retry());
    }

    @Test
    void pausesGrowUntilTheLongest() {
        assertEquals(FIRST, list.pauseNanos());
        assertEquals(1, retry());
        for (long pause : new long[] {2 * FIRST, LONGEST, LONGEST}) {
            assertEquals(pause, list.pauseNanos());
            now += pause - 1;
            assertEquals(0, retry());
            now++;
            assertEquals(1, retry());
        }
    }

    @Test
    void whatIsNewIsTriedSoonWithTheRest() {
        retry();
        now += 2 * FIRST;
        retry();
        assertEquals(LONGEST, list.pauseNanos());
        list.put(all.get(1));
        now += FIRST - 1;
        assertEquals(0, retry());
        assertEquals(FIRST, list.pauseNanos());
        now++;
        assertEquals(2, retry());
        assertEquals(2 * FIRST, list.pauseNanos(), "none is new any more");
    }

    @Test
    void oneThatIsClosedBringsTheOthersNearer() {
        list.put(all.get(1));
        retry();
        now += 2 * FIRST;
        held.remove(all.get(1));
        assertEquals(2, retry());
        assertEquals(FIRST, list.pauseNanos());
        now += FIRST;
        assertEquals(1, retry());
        assertSame(all.getFirst(), tried.getFirst());
        assertEquals(2 * FIRST, list.pauseNanos());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 10, 14, 21, 28, 30, 31})
    void eachIsClosedOnceWhichOnesEverAreFree(int free) {
        all.subList(1, all.size()).forEach(list::put);
        Set<Entry> first = new HashSet<>();
        for (int i = 0; i < all.size(); i++) {
            if ((free >> i & 1) == 1) {
                first.add(all.get(i));
            }
        }
        held.removeAll(first);
        assertEquals(5, retry());
        assertEquals(Set.copyOf(all), Set.copyOf(tried));
        held.clear();
        now += LONGEST;
        assertEquals(5 - first.size(), retry());
        assertTrue(tried.stream().noneMatch(first::contains));
        assertTrue(list.isEmpty());
    }

    @Test
    void noEntryIsLostByATryThatThrows() {
        all.subList(1, all.size()).forEach(list::put);
        held.clear();
        Entry third = all.get(2);
        IllegalStateException failure = new IllegalStateException("of a test");
        Set<Entry> closed = new HashSet<>();
        IllegalStateException thrown = assertThrows(
                IllegalStateException.class,
                () -> list.retry(entry -> {
                    if (entry == third) {
                        throw failure;
                    }
                    return closed.add(entry);
                }));
        assertSame(failure, thrown);
        assertFalse(list.isEmpty());
        now += LONGEST;
        list.retry(entry -> {
            assertTrue(closed.add(entry), "closed twice");
            return true;
        });
        assertEquals(Set.copyOf(all), closed);
        assertTrue(list.isEmpty());
    }
}
