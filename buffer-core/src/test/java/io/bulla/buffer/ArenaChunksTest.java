// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.refcount.internal.Live;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What an arena source takes of its budget: how large its blocks and chunks are, and what comes back if that fails.
class ArenaChunksTest {

    private static final int KIB = 1 << 10;
    private static final int BLOCK = 256 * KIB;

    private final MemoryBudget budget = new MemoryBudget(1L << 62);
    private final List<Region> regions = new ArrayList<>();
    private final List<ArenaSource> sources = new ArrayList<>();

    private ArenaSource source(long chunkBytes) {
        ArenaSource source =
                ArenaSource.builder().budget(budget).chunkBytes(chunkBytes).build();
        sources.add(source);
        return source;
    }

    private void take(ArenaSource source, long bytes) {
        regions.add(source.allocate(bytes));
    }

    private void takeBlock(ArenaSource source) {
        for (int i = 0; i < BLOCK / (32 * KIB); i++) {
            take(source, 32 * KIB);
        }
    }

    @AfterEach
    void everythingIsGivenBack() throws InterruptedException {
        regions.forEach(Region::release);
        for (ArenaSource each : sources) {
            each.close(Duration.ofSeconds(60));
            assertEquals(0, each.openChunks());
        }
        assertEquals(0, budget.used());
    }

    private void assertTaken(long expected, long chunkBytes, long bytes) {
        long before = budget.used();
        take(source(chunkBytes), bytes);
        assertEquals(expected, budget.used() - before, "chunkBytes=" + chunkBytes + " bytes=" + bytes);
    }

    @Test
    void blockIsAsLargeAsItsFirstRegionNeeds() {
        assertTaken(BLOCK, ArenaSource.CHUNK, 1);
        assertTaken(BLOCK, ArenaSource.CHUNK, 64 * KIB);
        assertTaken(1024 * KIB, ArenaSource.CHUNK, 64 * KIB + 1);
        assertTaken(1024 * KIB, ArenaSource.CHUNK, BLOCK - 1);
        assertTaken(BLOCK, ArenaSource.CHUNK, BLOCK);
        assertTaken(BLOCK + 1, ArenaSource.CHUNK, BLOCK + 1);
        assertTaken(512 * KIB, 512 * KIB, 128 * KIB - 1);
        assertTaken(128 * KIB, 512 * KIB, 128 * KIB);
        assertTaken(64 * KIB, 64 * KIB, 16 * KIB - 1);
        assertTaken(16 * KIB, 64 * KIB, 16 * KIB);
    }

    @Test
    void largestChunkIsAGibibyte() {
        assertTaken(BLOCK, 1L << 30, 1);
    }

    @Test
    void chunkTakesBlocksUpToItsLimit() {
        ArenaSource source = source(2L * BLOCK);
        // the second chunk of two that are used up at once has two blocks; a machine that stands still shows it later
        for (int i = 0; i < 100 && budget.used() == source.openChunks() * BLOCK; i++) {
            takeBlock(source);
        }
        assertTrue(budget.used() > source.openChunks() * BLOCK, source::toString);
    }

    @Test
    void chunkThatIsUsedUpSlowlyIsFollowedByNoLargerOne() {
        ArenaSource source = source(ArenaSource.CHUNK);
        for (int i = 1; i <= 3; i++) {
            takeBlock(source);
            assertEquals(i, source.openChunks());
            Await.pause(110);
        }
    }

    @Test
    void sourceThatCannotStartItsThreadBooksNothing() {
        OutOfMemoryError noThread = new OutOfMemoryError("unable to create native thread, of a test");
        ArenaSource source = ArenaSource.builder()
                .budget(budget)
                .starter(thread -> {
                    throw noThread;
                })
                .build();
        for (long bytes : new long[] {1, BLOCK}) {
            assertSame(noThread, assertThrows(OutOfMemoryError.class, () -> source.allocate(bytes)));
            assertEquals(0, budget.used());
            assertEquals(0, source.openChunks());
        }
        source.close();
    }

    /// More than any machine has addresses for: it is refused before a byte of it is touched.
    @Test
    void memoryThatTheMachineDoesNotHaveIsNotBooked() throws InterruptedException {
        ArenaSource source = source(ArenaSource.CHUNK);
        assertThrows(OutOfMemoryError.class, () -> source.allocate(1L << 60));
        Await.until(() -> source.openChunks() == 0);
        assertEquals(0, budget.used());
        take(source, BLOCK);
        assertEquals(BLOCK, budget.used());
    }

    @Test
    void memoryThatWaitsToBeClosedIsClosedByWhoTakesMore() throws InterruptedException {
        // its thread gets no processor
        ArenaSource source =
                ArenaSource.builder().budget(budget).starter(thread -> {}).build();
        for (int i = 0; i < 17; i++) {
            source.allocate(1 << 20).release();
        }
        assertEquals(17 << 20, budget.used(), "16 may wait");
        for (int i = 0; i < 3; i++) {
            source.allocate(1 << 20).release();
            assertEquals(17 << 20, budget.used());
        }
        source.allocate(1).release();
        assertEquals((16 << 20) + BLOCK, budget.used());
        source.close(Duration.ZERO);
        assertEquals(0, budget.used());
    }

    @Test
    void refusedOneClosesAsMuchAsItNeeds() throws InterruptedException {
        MemoryBudget small = new MemoryBudget(4 << 20);
        // its thread gets no processor
        ArenaSource source =
                ArenaSource.builder().budget(small).starter(thread -> {}).build();
        for (int i = 0; i < 4; i++) {
            source.allocate(1 << 20).release();
        }
        assertEquals(4 << 20, small.used());
        Region large = source.allocate(3 << 20);
        assertEquals(4 << 20, small.used());
        assertEquals(2, source.openChunks());
        large.release();
        source.close(Duration.ZERO);
        assertEquals(0, small.used());
    }

    @Test
    void closedSourceRefusesByNameWhateverTheSize() {
        ArenaSource source = source(ArenaSource.CHUNK);
        source.close();
        for (long bytes : new long[] {1, BLOCK}) {
            assertEquals(
                    "memory source already closed: requested=" + bytes + " openChunks=0",
                    assertThrows(IllegalStateException.class, () -> source.allocate(bytes))
                            .getMessage());
        }
    }

    @Test
    void sourceSaysHowItIs() {
        ArenaSource source = source(64 * KIB);
        take(source, 1);
        List<String> lines = Live.of("source").stream()
                .filter(each -> each.thing() == source)
                .flatMap(each -> each.lines().apply(each.thing()).stream())
                .toList();
        assertEquals(
                List.of("safety=FAST closed=false openChunks=1 chunkBytes=65536 lateWrites=0 used=65536"
                        + " limit=4611686018427387904 held by [not traced]"),
                lines);
    }
}
