// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.iovec.IoVec;
import io.bulla.refcount.LeaseLedger;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CheckedSourceTest {

    private static final String STALE = "stale view: its memory was given back: byteSize=";

    private final MemoryBudget budget = new MemoryBudget(256 << 20);
    private final ArenaSource source =
            ArenaSource.builder().safety(Safety.CHECKED).budget(budget).build();

    @AfterEach
    void everythingIsGivenBack() throws InterruptedException {
        source.close(Duration.ofSeconds(60));
        Await.until(() -> budget.used() == 0);
    }

    @Test
    void everyViewThrowsAtOnceAfterTheLastClose() {
        SealedBuffer buffer = Bytes.sealed(source, 100);
        SealedBuffer share = buffer.share();
        IoVec view = buffer.iovec();
        IoVec slice = view.slice(10, 20);
        IoVec joined = IoVec.concat(view, Bytes.vector((byte) 1));
        buffer.close();
        assertEquals(5, view.get(ValueLayout.JAVA_BYTE, 5), "another handle is open");
        share.close();
        MemorySegment target = MemorySegment.ofArray(new byte[200]);
        Stream.<Runnable>of(
                        () -> view.get(ValueLayout.JAVA_BYTE, 5),
                        () -> view.get(ValueLayout.JAVA_SHORT_UNALIGNED, 5),
                        () -> view.get(ValueLayout.JAVA_INT_UNALIGNED, 5),
                        () -> view.get(ValueLayout.JAVA_LONG_UNALIGNED, 5),
                        () -> view.copyTo(0, target, 100),
                        () -> view.region(0),
                        () -> view.slice(0, 1),
                        view::asByteBuffers,
                        () -> view.mismatch(slice),
                        () -> slice.get(ValueLayout.JAVA_BYTE, 0),
                        () -> joined.get(ValueLayout.JAVA_BYTE, 100))
                .forEach(use -> {
                    String said =
                            assertThrows(IllegalStateException.class, use::run).getMessage();
                    assertTrue(said.matches(STALE + "\\d+ regions=\\d+"), said);
                });
    }

    @Test
    void bareSegmentFindsPoisonWhileInQuarantine() {
        SealedBuffer buffer = Bytes.sealed(source, 100);
        MemorySegment bare = buffer.iovec().region(0);
        buffer.close();
        for (int i = 0; i < 100; i++) {
            assertEquals(AloneRegion.POISON, bare.get(ValueLayout.JAVA_BYTE, i));
        }
        assertEquals(1, source.openChunks());
    }

    @Test
    void quarantineEndsBehindLaterBytesOrWithTheSource() {
        SealedBuffer first = Bytes.sealed(source, 1000);
        MemorySegment bare = first.iovec().region(0);
        first.close();
        Bytes.sealed(source, (int) Quarantine.BYTES).close();
        Await.until(() -> !bare.scope().isAlive());
        Await.until(() -> source.openChunks() == 1);
        source.close();
        Await.until(() -> source.openChunks() == 0);
        assertEquals(0, source.lateWrites());
    }

    @Test
    void regionIsGivenBackOnce() {
        MemorySource.Region region = source.allocate(100);
        region.release();
        assertEquals(
                "region already given back: byteSize=100",
                assertThrows(IllegalStateException.class, region::release).getMessage());
        source.close();
        Await.until(() -> source.openChunks() == 0);
        assertEquals(0, source.lateWrites());
    }

    @Test
    void lateWritesAreFound() {
        MemorySource.Region guilty = source.allocate(100);
        MemorySource.Region innocent = source.allocate(100);
        MemorySegment escaped = guilty.segment();
        guilty.release();
        innocent.release();
        escaped.set(ValueLayout.JAVA_BYTE, 99, (byte) 1);
        source.close();
        Await.until(() -> source.openChunks() == 0);
        assertEquals(1, source.lateWrites());
    }

    @Test
    void useAfterCloseSaysWhoClosedFirst() throws InterruptedException {
        SealedBuffer buffer = Bytes.sealed(source, 100);
        Thread.ofPlatform().name("culprit").start(() -> closeHere(buffer)).join();
        buffer.close();
        Throwable cause =
                assertThrows(ReleasedBufferException.class, buffer::byteSize).getCause();
        assertEquals("lease closed here, by culprit", cause.getMessage());
        assertTrue(Stream.of(cause.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("closeHere")));
    }

    private static void closeHere(SealedBuffer buffer) {
        buffer.close();
    }

    @Test
    void ledgerWithStacksIsThereUnlessAnotherListenerIsGiven() {
        SealedBuffer buffer = Bytes.sealed(source, 100, "mine");
        LeaseLedger ledger = (LeaseLedger) source.trace();
        assertTrue(ledger.oldest().orElseThrow().takenAt().stream()
                .anyMatch(
                        frame -> frame.getMethodName().equals("ledgerWithStacksIsThereUnlessAnotherListenerIsGiven")));
        buffer.close();
        LeaseLedger own = LeaseLedger.full();
        try (ArenaSource other =
                ArenaSource.builder().safety(Safety.CHECKED).trace(own).build()) {
            assertEquals(own, other.trace());
            SealedBuffer closed = Bytes.sealed(other, 1);
            closed.close();
            assertNull(
                    assertThrows(ReleasedBufferException.class, closed::share).getCause());
        }
    }

    @Test
    void quarantineLeavesRoomInASmallBudget() throws InterruptedException {
        MemoryBudget small = new MemoryBudget(1 << 20);
        ArenaSource checked =
                ArenaSource.builder().safety(Safety.CHECKED).budget(small).build();
        for (int i = 0; i < 100; i++) {
            // as much at a time as a program that waits for its memory would take
            Await.until(() -> small.used() <= small.limit() / 2);
            Bytes.sealed(checked, 100_000).close();
        }
        checked.close(Duration.ofSeconds(60));
        assertEquals(0, small.used());
        assertEquals(0, checked.lateWrites());
    }

    @Test
    void fastSourceNeitherPoisonsNorStamps() {
        try (ArenaSource fast = ArenaSource.create(budget, null)) {
            List<SealedBuffer> keepers = new ArrayList<>();
            SealedBuffer buffer = Bytes.sealed(fast, 100);
            keepers.add(Bytes.sealed(fast, 100));
            IoVec stale = buffer.iovec();
            buffer.close();
            Bytes.sealed(fast, 100).close();
            assertEquals(-1, stale.mismatch(Bytes.vector(Bytes.numbered(100))), "the chunk lives, so the bytes stand");
            keepers.forEach(SealedBuffer::close);
        }
    }
}
