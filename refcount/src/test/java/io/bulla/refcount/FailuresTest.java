// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.refcount.internal.Failures;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
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
