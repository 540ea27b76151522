// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// Ends that end others: all of them, whatever one throws and however deep they stand.
class NestedReleaseTest {

    private static final int DEEP = 100_000;

    private final AtomicInteger released = new AtomicInteger();
    private final long adoptedBefore = MemoryBudget.adopted();

    private SealedBuffer adopted(Runnable onRelease) {
        return SealedBuffer.adopt(MemorySegment.ofArray(new byte[1]), () -> {
            released.incrementAndGet();
            onRelease.run();
        });
    }

    private SealedBuffer failing(Error error) {
        return adopted(() -> {
            throw error;
        });
    }

    @Test
    void errorOfOnePartKeepsNoOther() {
        Error first = new AssertionError("first of a test");
        Error second = new StackOverflowError("second of a test");
        SealedBuffer[] parts = {adopted(() -> {}), failing(first), failing(second), adopted(() -> {})};
        SealedBuffer whole = SealedBuffer.concat(parts);
        for (SealedBuffer part : parts) {
            part.close();
        }
        assertEquals(0, released.get());
        Error thrown = assertThrows(AssertionError.class, whole::close);
        assertEquals(first, thrown);
        assertEquals(List.of(second), List.of(thrown.getSuppressed()));
        assertEquals(4, released.get());
        assertEquals(adoptedBefore, MemoryBudget.adopted());
        whole.close();
        assertEquals(4, released.get());
    }

    @Test
    void adoptionsOfAdoptionsEndHoweverDeepTheyAre() {
        SealedBuffer outer = adopted(() -> {});
        for (int i = 1; i < DEEP; i++) {
            outer = adopted(outer::close);
        }
        outer.close();
        assertEquals(DEEP, released.get());
        assertEquals(adoptedBefore, MemoryBudget.adopted());
    }

    @Test
    void concatenationsAndAdoptionsOfEachOtherEndHoweverDeepTheyAre() {
        SealedBuffer outer = adopted(() -> {});
        for (int i = 1; i < DEEP; i++) {
            SealedBuffer inner = outer;
            if (i % 2 == 0) {
                outer = adopted(inner::close);
            } else {
                outer = SealedBuffer.concat(inner);
                inner.close();
            }
        }
        outer.close();
        assertEquals(DEEP / 2, released.get());
        assertEquals(adoptedBefore, MemoryBudget.adopted());
    }

    @Test
    void whatEndsWithinAnotherEndIsGivenBackBeforeItsCloseReturns() {
        List<String> order = new ArrayList<>();
        SealedBuffer inner = adopted(() -> order.add("inner"));
        SealedBuffer middle = adopted(() -> {
            inner.close();
            order.add("middle");
        });
        SealedBuffer outer = adopted(() -> {
            middle.close();
            order.add("outer");
        });
        outer.close();
        assertEquals(List.of("inner", "middle", "outer"), order);
    }

    /// 64 ends stand on the stack; the one below them waits for the first, and has a stack of its own.
    @Test
    void endIsPutOffBelowSixtyFourOthersAlone() {
        List<Integer> putOff = new ArrayList<>();
        SealedBuffer outer = adopted(() -> {});
        for (int i = 149; i >= 1; i--) {
            SealedBuffer inner = outer;
            int above = i;
            outer = adopted(() -> {
                int before = released.get();
                inner.close();
                if (released.get() == before) {
                    putOff.add(above);
                }
            });
        }
        outer.close();
        assertEquals(150, released.get());
        assertEquals(List.of(64, 128), putOff);
    }

    @Test
    void siblingsBelowOneEndAreGivenBackAtOnceHoweverMany() {
        SealedBuffer outer = adopted(() -> {
            for (int i = 0; i < 200; i++) {
                int before = released.get();
                adopted(() -> {}).close();
                assertEquals(before + 1, released.get());
            }
        });
        outer.close();
        assertEquals(201, released.get());
    }

    @Test
    void failureDeepDownKeepsNothingAbove() {
        SealedBuffer outer = failing(new AssertionError("at the bottom"));
        for (int i = 1; i < 1000; i++) {
            SealedBuffer inner = outer;
            outer = adopted(() -> {
                inner.close();
            });
        }
        SealedBuffer last = outer;
        assertEquals(
                "at the bottom", assertThrows(AssertionError.class, last::close).getMessage());
        assertEquals(1000, released.get());
        assertEquals(adoptedBefore, MemoryBudget.adopted());
        // the thread is as before
        SealedBuffer next = adopted(() -> {});
        next.close();
        assertTrue(released.get() == 1001);
    }

    @Test
    void threadThatHasEndedOneEndsTheNextHoweverDeepItIs() {
        adopted(() -> {}).close();
        SealedBuffer outer = adopted(() -> {});
        for (int i = 1; i < 200; i++) {
            outer = adopted(outer::close);
        }
        outer.close();
        assertEquals(201, released.get());
        assertEquals(adoptedBefore, MemoryBudget.adopted());
    }

    @Test
    void releaseThatThrowsWhileAdoptFailsIsKeptWithTheFailure() {
        Error second = new AssertionError("of a test");
        NullPointerException thrown = assertThrows(
                NullPointerException.class,
                () -> SealedBuffer.adopt(null, () -> {
                    throw second;
                }));
        assertEquals("memory", thrown.getMessage());
        assertEquals(List.of(second), List.of(thrown.getSuppressed()));
    }
}
