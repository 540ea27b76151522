// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.iovec.CopyTally;
import io.bulla.refcount.LeaseTally;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What makes new handles: move, compact, concat, slice, tryBuild.
class HandleOperationsTest {

    private final LeaseTally handles = new LeaseTally();
    private final MemoryBudget budget = new MemoryBudget(8 << 20);
    private final ArenaSource source = ArenaSource.create(budget, handles);

    @AfterEach
    void everythingIsGivenBack() {
        assertEquals(0, handles.open());
        source.close();
        Await.until(() -> budget.used() == 0);
    }

    @Test
    void moveGoesOnWithTheClaimOfTheOldHandle() {
        SealedBuffer first = Bytes.sealed(source, 100, "me");
        SealedBuffer second = first.move();
        assertFalse(first.isOpen());
        assertNotSame(first, second);
        assertEquals(1, second.holders());
        assertThrows(ReleasedBufferException.class, first::byteSize);
        SealedBuffer third = second.move("peer-3");
        assertEquals("peer-3", third.tag());
        second.close();
        assertEquals(1, third.holders());
        assertEquals("SealedBuffer[byteSize=100 open tag=peer-3]", third.toString());
        assertEquals("SealedBuffer[byteSize=100 closed]", second.toString());
        third.close();
        assertThrows(ReleasedBufferException.class, third::move);
    }

    @Test
    void sliceThatPinsMuchIsCopiedByCompact() {
        try (SealedBuffer whole = Bytes.sealed(source, 100_000);
                SealedBuffer slice = whole.slice(10, 64)) {
            CopyTally before = CopyTally.snapshot();
            SealedBuffer compact = slice.compact(source, 0.5);
            assertEquals(new CopyTally(1, 64), CopyTally.snapshot().since(before));
            assertEquals(100_000, slice.pinnedBytes());
            assertEquals(64, compact.pinnedBytes());
            assertEquals(0, compact.iovec().mismatch(Bytes.vector()));
            assertEquals(-1, compact.iovec().mismatch(slice.iovec()));
            assertEquals(1, compact.holders());
            compact.close();
        }
    }

    @Test
    void compactOfWhatIsUsedEnoughIsAShare() {
        try (SealedBuffer whole = Bytes.sealed(source, 1000);
                SealedBuffer half = whole.slice(0, 500)) {
            CopyTally before = CopyTally.snapshot();
            for (double minUse : new double[] {0, 0.25, 0.5}) {
                SealedBuffer compact = half.compact(source, minUse);
                assertEquals(3, whole.holders());
                compact.close();
            }
            assertEquals(0, CopyTally.snapshot().since(before).copies());
            half.compact(source, 0.51).close();
            assertEquals(1, CopyTally.snapshot().since(before).copies());
        }
    }

    @Test
    void shareOfMemoryToBeUsedIsAShare() {
        try (SealedBuffer whole = Bytes.sealed(source, 10)) {
            for (double wrong : new double[] {-0.1, 1.1, Double.NaN}) {
                assertEquals(
                        "share of the memory to be used: minUse=" + wrong,
                        assertThrows(IllegalArgumentException.class, () -> whole.compact(source, wrong))
                                .getMessage());
            }
        }
    }

    @Test
    void concatOfConcatsAndSlicesOutlivesEveryPart() {
        SealedBuffer left = Bytes.sealed(source, 10);
        SealedBuffer right = Bytes.sealed(source, 20);
        SealedBuffer both = SealedBuffer.concat(left, right);
        SealedBuffer nested = SealedBuffer.concat(both, left);
        SealedBuffer across = nested.slice(8, 4);
        for (SealedBuffer each : List.of(left, right, both, nested)) {
            each.close();
        }
        assertEquals(-1, across.iovec().mismatch(Bytes.vector((byte) 8, (byte) 9, (byte) 0, (byte) 1)));
        // regions are multiples of eight bytes
        assertEquals(16 + 24 + 16, across.pinnedBytes());
        across.close();
    }

    @Test
    void concatOfConcatsMayBeDeep() {
        SealedBuffer all = SealedBuffer.concat();
        SealedBuffer one = Bytes.sealed(source, 8);
        int deep = 20_000;
        for (int i = 0; i < deep; i++) {
            SealedBuffer longer = i % 2 == 0 ? SealedBuffer.concat(all, one) : SealedBuffer.concat(all);
            all.close();
            all = longer.byteSize() < 80 ? longer : longer.slice(0, 8);
            if (all != longer) {
                longer.close();
            }
        }
        assertEquals(8L * deep / 2, all.pinnedBytes());
        assertEquals(1 + deep / 2, one.holders());
        all.close();
        assertEquals(1, one.holders());
        one.close();
    }

    @Test
    void concatOfNothingIsEmpty() {
        try (SealedBuffer nothing = SealedBuffer.concat()) {
            assertEquals(0, nothing.byteSize());
            assertEquals(0, nothing.pinnedBytes());
        }
    }

    @Test
    void builderIsRefusedWithoutAnExceptionWhenTheBudgetIsSpent() {
        Optional<BufferBuilder> first = BufferBuilder.tryBuild(source, 6 << 20);
        assertTrue(first.isPresent());
        assertEquals(Optional.empty(), BufferBuilder.tryBuild(source, 6 << 20));
        assertEquals(6 << 20, budget.used());
        first.get().put(Bytes.numbered(100));
        try (SealedBuffer buffer = first.get().seal()) {
            assertEquals(100, buffer.byteSize());
        }
        Await.until(() -> budget.used() == 0);
        try (BufferBuilder again = BufferBuilder.tryBuild(source, 6 << 20).orElseThrow()) {
            assertEquals(0, again.byteSize());
        }
    }

    @Test
    void builderThatWasTriedAndAbandonedGivesItsMemoryBack() {
        BufferBuilder.tryBuild(source, 6 << 20).orElseThrow().close();
        Await.until(() -> budget.used() == 0);
    }
}
