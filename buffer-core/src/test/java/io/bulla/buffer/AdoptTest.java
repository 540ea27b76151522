// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Foreign memory: given back once, whatever happens.
class AdoptTest {

    private final AtomicInteger released = new AtomicInteger();
    private final long adoptedBefore = MemoryBudget.adopted();

    @AfterEach
    void releasedOnceAndNoLongerCounted() {
        assertEquals(1, released.get());
        assertEquals(adoptedBefore, MemoryBudget.adopted());
    }

    @Test
    void lastCloseGivesItBackOnce() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(100).fill((byte) 7);
            SealedBuffer first = SealedBuffer.adopt(memory, released::incrementAndGet);
            assertEquals(adoptedBefore + 100, MemoryBudget.adopted());
            SealedBuffer slice = first.slice(90, 10);
            assertEquals(100, slice.pinnedBytes());
            assertEquals(memory.address() + 90, slice.iovec().region(0).address());
            first.close();
            first.close();
            assertEquals(0, released.get());
            assertEquals(7, slice.iovec().get(ValueLayout.JAVA_BYTE, 9));
            slice.close();
        }
    }

    @Test
    void heapMemoryIsWelcome() {
        SealedBuffer buffer = SealedBuffer.adopt(MemorySegment.ofArray(Bytes.numbered(50)), released::incrementAndGet);
        assertEquals(-1, buffer.iovec().mismatch(Bytes.vector(Bytes.numbered(50))));
        buffer.close();
    }

    @Test
    void readOnlyMemoryIsTakenAsItIs() {
        MemorySegment readOnly = MemorySegment.ofArray(new byte[8]).asReadOnly();
        SealedBuffer buffer = SealedBuffer.adopt(readOnly, released::incrementAndGet);
        assertSame(readOnly, buffer.iovec().region(0));
        buffer.close();
    }

    @Test
    void viewsOfAdoptedMemoryRefuseWrites() {
        SealedBuffer buffer = SealedBuffer.adopt(MemorySegment.ofArray(new byte[8]), released::incrementAndGet);
        assertTrue(buffer.iovec().region(0).isReadOnly());
        assertTrue(buffer.iovec().asByteBuffers()[0].isReadOnly());
        buffer.close();
    }

    @Test
    void emptyMemoryIsGivenBackToo() {
        SealedBuffer.adopt(MemorySegment.ofArray(new byte[0]), released::incrementAndGet)
                .close();
    }

    @Test
    void noMemoryIsRefusedAndReleased() {
        assertEquals(
                "memory",
                assertThrows(NullPointerException.class, () -> SealedBuffer.adopt(null, released::incrementAndGet))
                        .getMessage());
    }

    @Test
    void noOneToTellIsRefused() {
        assertEquals(
                "onRelease",
                assertThrows(
                                NullPointerException.class,
                                () -> SealedBuffer.adopt(MemorySegment.ofArray(new byte[1]), null))
                        .getMessage());
        released.incrementAndGet();
    }

    @Test
    void memoryOfOneThreadIsRefusedAndReleased() {
        try (Arena confined = Arena.ofConfined()) {
            refused("memory is confined to one thread: byteSize=16", confined.allocate(16));
        }
    }

    @Test
    void memoryOfAnotherThreadIsRefusedAndReleased() throws InterruptedException {
        AtomicReference<MemorySegment> theirs = new AtomicReference<>();
        Thread other = Thread.ofPlatform().start(() -> {
            Arena confined = Arena.ofConfined();
            theirs.set(confined.allocate(16));
        });
        other.join();
        refused("memory is confined to one thread: byteSize=16", theirs.get());
    }

    @Test
    void memoryThatIsFreedAlreadyIsRefusedAndReleased() {
        Arena arena = Arena.ofShared();
        MemorySegment gone = arena.allocate(16);
        arena.close();
        refused("memory is freed already: byteSize=16", gone);
    }

    private void refused(String message, MemorySegment memory) {
        assertEquals(
                message,
                assertThrows(
                                IllegalArgumentException.class,
                                () -> SealedBuffer.adopt(memory, released::incrementAndGet))
                        .getMessage());
    }
}
