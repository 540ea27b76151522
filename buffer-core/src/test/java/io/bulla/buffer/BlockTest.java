// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemorySource.Region;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/// Carving, on one chunk and through a source.
class BlockTest {

    private static final int SIZE = 1 << 16;

    private final AtomicLong givenBack = new AtomicLong();
    // its thread never starts: what is left of a chunk is seen at once
    private final ArenaCloser closer = new ArenaCloser(givenBack::addAndGet, 0, thread -> {});
    private final Chunk chunk = chunk();
    private final Block block = chunk.addBlock(SIZE);

    private Chunk chunk() {
        closer.opening();
        return new Chunk(closer);
    }

    @AfterEach
    void chunkIsGone() throws InterruptedException {
        assertTrue(closer.awaitNone(0));
        assertEquals(SIZE, givenBack.get());
    }

    @Test
    void blockIsUnusedBeforeItsFirstRegionAndAfterItsLast() {
        assertTrue(block.isUnused());
        Region first = block.carve(8);
        Region second = block.carve(8);
        assertFalse(block.isUnused());
        first.release();
        assertFalse(block.isUnused());
        second.release();
        assertTrue(block.isUnused());
        end(List.of());
    }

    @Test
    void regionIsGivenBackOnce() {
        Region first = block.carve(8);
        Region second = block.carve(8);
        first.release();
        assertEquals(
                "region already given back: byteSize=8",
                assertThrows(IllegalStateException.class, first::release).getMessage());
        assertThrows(IllegalStateException.class, first::segment);
        assertFalse(block.isUnused(), "the second is still out");
        second.release();
        end(List.of());
    }

    @Test
    void regionsFollowEachOtherAlignedAndZeroedUntilThereIsNoRoom() {
        List<Region> regions = new ArrayList<>();
        long last = 0;
        for (Region one = block.carve(13); one != null; one = block.carve(13)) {
            MemorySegment memory = one.segment();
            assertEquals(0, memory.address() % 8);
            assertTrue(regions.isEmpty() || memory.address() == last + 16);
            assertEquals(0, memory.get(ValueLayout.JAVA_LONG, 0) | memory.get(ValueLayout.JAVA_LONG, 8));
            memory.fill((byte) 1);
            last = memory.address();
            regions.add(one);
        }
        assertEquals(SIZE / 16, regions.size());
        assertNull(block.carve(1));
        end(regions);
    }

    /// Back-pressure polls for hours; each refusal once took one of two million credits, and then memory went
    /// beneath open buffers.
    @Test
    void refusedCarvesCostNothing() throws InterruptedException {
        Region whole = block.carve(SIZE);
        for (int i = 0; i < 3_000_000; i++) {
            assertNull(block.carve(8));
        }
        block.retire();
        assertEquals(1, block.holders());
        chunk.leave();
        assertFalse(closer.awaitNone(0));
        whole.segment().fill((byte) 1);
        whole.release();
    }

    /// Sealed with no byte, each of them would take one of two million credits, and no room.
    @Test
    void regionOfNoByteKeepsItsPlace() {
        Region first = block.carve(8);
        assertTrue(((Block.Carved) first).resize(0));
        Region second = block.carve(8);
        assertEquals(first.segment().address() + 8, second.segment().address());
        end(List.of(first, second));
    }

    @Test
    void retiredBlockLivesAsLongAsItsRegions() throws InterruptedException {
        Region one = block.carve(8);
        Region two = block.carve(8);
        block.retire();
        assertNull(block.carve(8));
        chunk.leave();
        one.release();
        assertFalse(closer.awaitNone(0));
        two.segment().fill((byte) 2);
        two.release();
    }

    @Test
    void blockThatWasNeverCarvedGoesWithItsRetirement() {
        block.retire();
        chunk.leave();
    }

    @Test
    void lastRegionGrowsAndShrinksInPlaceAndOthersDoNot() {
        Block.Carved first = (Block.Carved) block.carve(100);
        Block.Carved last = (Block.Carved) block.carve(100);
        assertEquals(false, first.resize(200));
        assertEquals(false, first.resize(8));
        assertEquals(true, first.resize(104), "the size it has");
        assertEquals(true, last.resize(1000));
        assertEquals(1000, last.byteSize());
        assertEquals(true, last.resize(10));
        assertEquals(16, last.byteSize());
        assertEquals(false, last.resize(SIZE));
        assertEquals(false, last.resize(Long.MAX_VALUE - 100));
        assertEquals(16, last.byteSize());
        Region next = block.carve(8);
        assertEquals(last.segment().address() + 16, next.segment().address());
        assertEquals(false, last.resize(24));
        block.retire();
        Block.Carved retired = (Block.Carved) next;
        assertEquals(false, retired.resize(16));
        chunk.leave();
        for (Region each : List.of(first, last, next)) {
            each.release();
        }
    }

    @Test
    void threadsThatCarveAtOnceGetDisjointRegions() throws InterruptedException {
        AtomicLong wrong = new AtomicLong();
        List<Region> all = Collections.synchronizedList(new ArrayList<>());
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            byte mark = (byte) (t + 1);
            Random random = new Random(t);
            threads[t] = Thread.ofPlatform().start(() -> {
                for (Region one = block.carve(1 + random.nextInt(60));
                        one != null;
                        one = block.carve(1 + random.nextInt(60))) {
                    Block.Carved mine = (Block.Carved) one;
                    mine.resize(1 + random.nextInt(100));
                    wrong.addAndGet(isFilled(0, mine) ? 0 : 1);
                    mine.segment().fill(mark);
                    wrong.addAndGet(isFilled(mark, mine) ? 0 : 1);
                    all.add(mine);
                }
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
        List<Region> inOrder = new ArrayList<>(all);
        inOrder.sort(Comparator.comparingLong(one -> one.segment().address()));
        for (int i = 1; i < inOrder.size(); i++) {
            MemorySegment before = inOrder.get(i - 1).segment();
            assertTrue(before.address() + before.byteSize()
                    <= inOrder.get(i).segment().address());
        }
        for (Region one : inOrder) {
            byte mark = one.segment().get(ValueLayout.JAVA_BYTE, 0);
            assertTrue(mark > 0 && isFilled(mark, one));
        }
        assertEquals(0, wrong.get(), "not zeroed, or written to by another");
        assertTrue(inOrder.size() > 100);
        end(all);
    }

    @Test
    void threadsThatCarveReleaseAndRetireGiveTheMemoryBackOnce() throws InterruptedException {
        MemoryBudget budget = new MemoryBudget(256L << 20);
        ArenaSource source =
                ArenaSource.builder().budget(budget).chunkBytes(64 << 10).build();
        Thread[] threads = new Thread[4];
        AtomicLong wrong = new AtomicLong();
        for (int t = 0; t < threads.length; t++) {
            long mark = t + 1;
            threads[t] = Thread.ofPlatform().start(() -> {
                Region kept = null;
                for (int i = 0; i < 20_000; i++) {
                    Region one = source.allocate(128);
                    MemorySegment memory = one.segment();
                    wrong.addAndGet(memory.get(ValueLayout.JAVA_LONG, 64) == 0 ? 0 : 1);
                    memory.set(ValueLayout.JAVA_LONG, 64, mark);
                    if (kept != null) {
                        wrong.addAndGet(kept.segment().get(ValueLayout.JAVA_LONG, 64) == mark ? 0 : 1);
                        kept.release();
                    }
                    kept = one;
                }
                kept.release();
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
        source.close();
        Await.until(() -> source.openChunks() == 0);
        assertEquals(0, wrong.get(), "bytes of another region, or not zeroed");
        assertEquals(0, budget.used());
        end(List.of());
    }

    @Test
    void growthInPlaceKeepsTheRegion() {
        try (ArenaSource source = ArenaSource.create()) {
            Region region = source.allocate(100);
            assertSame(region, source.grow(region, 1000));
            Region behind = source.allocate(8);
            assertNull(source.grow(region, 2000));
            Region alone = source.allocate(1 << 20);
            assertNull(source.grow(alone, 2 << 20));
            for (Region each : List.of(region, behind, alone)) {
                each.release();
            }
        }
        end(List.of());
    }

    @Test
    void lastRegionGrowsUpToTheLastByteOfItsBlock() {
        Block.Carved only = (Block.Carved) block.carve(8);
        assertFalse(only.resize(SIZE + 1));
        assertEquals(8, only.byteSize());
        assertTrue(only.resize(SIZE));
        assertEquals(SIZE, only.byteSize());
        assertNull(block.carve(1));
        assertTrue(only.resize(SIZE - 8));
        Region behind = block.carve(8);
        assertEquals(only.segment().address() + SIZE - 8, behind.segment().address());
        assertEquals(8, only.sealed(8).byteSize());
        end(List.of(only, behind));
    }

    @Test
    void regionThatWasGivenBackNeitherGrowsNorIsSealed() {
        Block.Carved region = (Block.Carved) block.carve(16);
        region.release();
        for (Executable each : List.<Executable>of(
                () -> region.resize(16), () -> region.resize(8), () -> region.sealed(0), () -> region.sealed(16))) {
            assertEquals(
                    "region already given back: byteSize=16",
                    assertThrows(IllegalStateException.class, each).getMessage());
        }
        end(List.of());
    }

    private void end(List<Region> regions) {
        block.retire();
        chunk.leave();
        regions.forEach(Region::release);
    }

    private static boolean isFilled(int expected, Region region) {
        for (long i = 0; i < region.byteSize(); i++) {
            if (region.segment().get(ValueLayout.JAVA_BYTE, i) != expected) {
                return false;
            }
        }
        return true;
    }
}
