// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.refcount.internal.Failures;
import java.io.IOException;
import java.util.AbstractSequentialList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.ListIterator;
import org.junit.jupiter.api.Test;

class FailuresTest {

    private final List<Integer> closed = new ArrayList<>();

    private AutoCloseable each(int number, Throwable failure) {
        return () -> {
            closed.add(number);
            Failures.rethrow(failure);
        };
    }

    @Test
    void allAreClosedAndTheFirstFailureHasTheOthersBehindIt() {
        Error first = new Error("first");
        IOException second = new IOException("second");
        Throwable joined =
                Failures.closeAll(List.of(each(1, null), each(2, first), each(3, second), each(4, first)), null);
        assertEquals(List.of(1, 2, 3, 4), closed);
        assertSame(first, joined);
        assertEquals(List.of(second), List.of(joined.getSuppressed()));
    }

    @Test
    void whatFailedBeforeIsTheFirstFailure() {
        IllegalStateException before = new IllegalStateException("before");
        Error failure = new Error("close");
        assertSame(before, Failures.close(each(1, failure), before));
        assertEquals(List.of(failure), List.of(before.getSuppressed()));
        assertSame(before, Failures.close(each(2, null), before));
        assertEquals(List.of(1, 2), closed);
    }

    /// Where there may be no heap for an iterator.
    @Test
    void listThatIsReadByIndexAndDequeNeedNoIterator() {
        Error failure = new Error("close");
        Throwable joined = Failures.closeAll(
                new ArrayList<>(List.of(each(1, null), each(2, failure))) {
                    @Override
                    public Iterator<AutoCloseable> iterator() {
                        throw new AssertionError("an iterator");
                    }
                },
                null);
        assertSame(failure, joined);
        Deque<AutoCloseable> deque = new ArrayDeque<>(List.of(each(3, failure), each(4, null))) {
            @Override
            public Iterator<AutoCloseable> iterator() {
                throw new AssertionError("an iterator");
            }
        };
        assertSame(failure, Failures.closeAll(deque, null));
        assertTrue(deque.isEmpty(), "closed, so they are gone");
        assertEquals(List.of(1, 2, 3, 4), closed);
    }

    /// By index it would be walked through for each of them.
    @Test
    void listThatIsNotReadByIndexIsWalkedThrough() {
        AbstractSequentialList<AutoCloseable> list = new AbstractSequentialList<>() {
            private final List<AutoCloseable> all = List.of(each(1, null), each(2, null));

            @Override
            public ListIterator<AutoCloseable> listIterator(int index) {
                return all.listIterator(index);
            }

            @Override
            public AutoCloseable get(int index) {
                throw new AssertionError("by index: " + index);
            }

            @Override
            public int size() {
                return all.size();
            }
        };
        assertNull(Failures.closeAll(list, null));
        assertEquals(List.of(1, 2), closed);
    }

    @Test
    void iteratorThatFailsIsAFailureBehindTheFirst() {
        Error first = new Error("first");
        Error none = new OutOfMemoryError("no iterator");
        Iterable<AutoCloseable> all = () -> {
            throw none;
        };
        assertSame(none, Failures.closeAll(all, null));
        assertSame(first, Failures.closeAll(all, first));
        assertEquals(List.of(none), List.of(first.getSuppressed()));
    }

    @Test
    void nothingThatFailsIsNoFailure() {
        assertNull(Failures.closeAll(List.of(each(1, null), each(2, null)), null));
        Failures.rethrow(null);
        assertEquals(List.of(1, 2), closed);
    }

    @Test
    void whatIsJoinedIsThrownAsItIs() {
        IOException failure = new IOException("checked");
        assertSame(failure, assertThrows(IOException.class, () -> Failures.rethrow(failure)));
    }
}
