// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.iovec.IoVec;
import io.bulla.refcount.LeaseLedger;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ArenaSourceTest {

    private static final int KIB = 1 << 10;

    private final MemoryBudget budget = new MemoryBudget(256L << 20);

    @Test
    void closeWithPatienceThrowsAndListsTheHolders() throws InterruptedException {
        ArenaSource source = ArenaSource.create(budget, LeaseLedger.full());
        SealedBuffer forgotten = Bytes.sealed(source, 1000, "peer-17");
        String message = assertThrows(IllegalStateException.class, () -> source.close(Duration.ofMillis(50)))
                .getMessage();
        assertTrue(
                message.matches("memory source closed with open handles: chunks=1 waited=50ms"
                        + " held by \\[peer-17: handles=1 size=1000 oldest=\\d+ms]"),
                message);
        assertEquals(-1, forgotten.iovec().mismatch(Bytes.vector(Bytes.numbered(1000))), "still its holder's");
        forgotten.share().close();
        forgotten.close();
        source.close(Duration.ofSeconds(60));
        assertEquals(0, budget.used());
    }

    @Test
    void closeWithPatienceSaysSoWithoutATrace() throws InterruptedException {
        ArenaSource source = ArenaSource.create(budget, null);
        SealedBuffer forgotten = Bytes.sealed(source, 1000);
        assertEquals(
                "memory source closed with open handles: chunks=1 waited=0ms held by [not traced]",
                assertThrows(IllegalStateException.class, () -> source.close(Duration.ZERO))
                        .getMessage());
        forgotten.close();
        source.close(Duration.ofSeconds(60));
    }

    @Test
    void closeWithPatienceReturnsOnceTheLastHandleIsClosed() throws InterruptedException {
        ArenaSource source = ArenaSource.create(budget, null);
        SealedBuffer late = Bytes.sealed(source, 1000);
        Thread closer = Thread.ofPlatform().start(() -> {
            Await.pause(50);
            late.close();
        });
        source.close(Duration.ofSeconds(60));
        assertFalse(late.isOpen());
        assertEquals(0, budget.used());
        closer.join();
    }

    @Test
    void patienceOfCenturiesIsOneWithoutEnd() throws InterruptedException {
        ArenaSource source = ArenaSource.create(budget, null);
        Bytes.sealed(source, 1000).close();
        source.close(Duration.ofDays(109_500));
        source.close(Duration.ofSeconds(Long.MAX_VALUE));
        assertEquals(0, budget.used());
    }

    @Test
    void sendInFlightIsNotDisturbedByTheEndOfItsSource() throws Exception {
        ArenaSource source = ArenaSource.create(budget, LeaseLedger.full());
        SealedBuffer sent = Bytes.sealed(source, 2 << 20, "send");
        Pipe pipe = Pipe.open();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread sender = Thread.ofPlatform().start(() -> {
            try (Pipe.SinkChannel sink = pipe.sink()) {
                sent.iovec().writeTo(sink);
            } catch (IOException e) {
                failure.set(e);
            } finally {
                sent.close();
            }
        });
        ByteBuffer received = ByteBuffer.allocate(2 << 20);
        received.limit(1);
        pipe.source().read(received);
        assertThrows(IllegalStateException.class, () -> source.close(Duration.ofMillis(20)));
        received.limit(received.capacity());
        while (received.hasRemaining() && pipe.source().read(received) >= 0) {}
        sender.join();
        assertEquals(null, failure.get());
        assertEquals(-1, Bytes.vector(received.array()).mismatch(Bytes.vector(Bytes.numbered(2 << 20))));
        source.close(Duration.ofSeconds(60));
        pipe.source().close();
        assertEquals(0, budget.used());
    }

    /// A stale writer: its handle is closed, its system call still runs, so the arena refuses to be closed.
    @Test
    void chunkInASystemCallIsClosedWhenTheCallEnds() throws Exception {
        ArenaSource source = ArenaSource.create(budget, null);
        SealedBuffer buffer = Bytes.sealed(source, 2 << 20);
        IoVec view = buffer.iovec();
        Pipe pipe = Pipe.open();
        Thread stale = Thread.ofPlatform().start(() -> {
            try (Pipe.SinkChannel sink = pipe.sink()) {
                // one buffer, one call: the JDK acquires the arena's session for as long as it lasts
                ByteBuffer one = view.asByteBuffers()[0];
                while (one.hasRemaining()) {
                    sink.write(one);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        ByteBuffer received = ByteBuffer.allocate(2 << 20);
        received.limit(1);
        pipe.source().read(received);
        Await.pause(50);
        buffer.close();
        Await.pause(50);
        assertEquals(1, source.openChunks(), "the call still uses it");
        assertEquals(2 << 20, budget.used());
        Bytes.sealed(source, 1 << 20).close();
        Await.until(() -> source.openChunks() == 1);
        received.limit(received.capacity());
        while (received.hasRemaining() && pipe.source().read(received) >= 0) {}
        stale.join();
        assertEquals(-1, Bytes.vector(received.array()).mismatch(Bytes.vector(Bytes.numbered(2 << 20))));
        Await.until(() -> source.openChunks() == 0);
        assertEquals(0, budget.used());
        assertThrows(IllegalStateException.class, () -> view.get(ValueLayout.JAVA_BYTE, 0));
        pipe.source().close();
        source.close(Duration.ofSeconds(60));
    }

    /// One buffer, one call: the JDK acquires the arena's session for as long as it lasts.
    private static Thread writing(IoVec view, Pipe pipe) {
        return Thread.ofPlatform().start(() -> {
            try (Pipe.SinkChannel sink = pipe.sink()) {
                ByteBuffer one = view.asByteBuffers()[0];
                while (one.hasRemaining()) {
                    sink.write(one);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    @Test
    void chunksThatSystemCallsHoldAtOnceAreAllClosed() throws Exception {
        ArenaSource source = ArenaSource.create(budget, null);
        List<Pipe> pipes = new ArrayList<>();
        List<Thread> calls = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Pipe pipe = Pipe.open();
            SealedBuffer buffer = Bytes.sealed(source, 2 << 20);
            pipes.add(pipe);
            calls.add(writing(buffer.iovec(), pipe));
            // a byte is there, and a pipe has not room for all: the call holds the memory
            pipe.source().read(ByteBuffer.allocate(1));
            buffer.close();
        }
        // the source's thread has met all three
        Bytes.sealed(source, 1 << 20).close();
        Await.until(() -> source.openChunks() == 3);
        for (int i = 0; i < 3; i++) {
            ByteBuffer received = ByteBuffer.allocate((2 << 20) - 1);
            while (received.hasRemaining() && pipes.get(i).source().read(received) >= 0) {}
            calls.get(i).join();
            pipes.get(i).source().close();
        }
        Await.until(() -> source.openChunks() == 0);
        source.close(Duration.ofSeconds(60));
        assertEquals(0, budget.used());
    }

    @Test
    void regionWithAChunkOfItsOwnIsGivenBackOnce() throws InterruptedException {
        ArenaSource source = ArenaSource.create(budget, null);
        MemorySource.Region region = source.allocate(1 << 20);
        region.release();
        assertEquals(
                "region already given back: byteSize=1048576",
                assertThrows(IllegalStateException.class, region::release).getMessage());
        source.close(Duration.ofSeconds(60));
        assertEquals(0, budget.used());
    }

    @Test
    void trimIsAskedForAndHappensByItselfAfterMuchWasClosed() throws InterruptedException {
        ArenaSource source = ArenaSource.create(budget, null);
        assertEquals(0, source.trims());
        source.trim();
        Await.until(() -> source.trims() == 1);
        List<SealedBuffer> many = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            many.add(Bytes.sealed(source, 1 << 20));
        }
        many.forEach(SealedBuffer::close);
        Await.until(() -> source.trims() == 2);
        Await.pause(700);
        assertEquals(2, source.trims(), "nothing was closed since");
        for (int i = 0; i < 10; i++) {
            Bytes.sealed(source, 1 << 20).close();
        }
        source.close(Duration.ofSeconds(60));
        Await.until(() -> source.trims() == 3);
    }

    @Test
    void chunkIsGivenBackWhenTheLastOfItsBuffersIsGone() throws InterruptedException {
        ArenaSource source = ArenaSource.create(budget, null);
        List<SealedBuffer> small = new ArrayList<>();
        while (source.openChunks() < 3) {
            small.add(Bytes.sealed(source, 10 * KIB));
        }
        SealedBuffer pin = small.removeFirst();
        small.forEach(SealedBuffer::close);
        source.close();
        Await.until(() -> source.openChunks() == 1);
        assertEquals(256 * KIB, budget.used(), "one handle of the first chunk");
        assertEquals(9, pin.iovec().get(ValueLayout.JAVA_BYTE, 9));
        pin.close();
        source.close(Duration.ofSeconds(60));
        assertEquals(0, budget.used());
    }

    @Test
    void smallHandlePinsOneChunkAtMostHoweverBusyTheSourceIs() throws InterruptedException {
        ArenaSource source = ArenaSource.create(budget, null);
        List<SealedBuffer> held = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) {
            held.add(Bytes.sealed(source, 64));
        }
        source.close();
        for (int survivor : new int[] {0, 100_000, 199_999}) {
            assertEquals(64, held.get(survivor).pinnedBytes());
        }
        SealedBuffer last = held.remove(100_000);
        held.forEach(SealedBuffer::close);
        Await.until(() -> source.openChunks() == 1);
        assertTrue(budget.used() <= ArenaSource.CHUNK, "used=" + budget.used());
        last.close();
        source.close(Duration.ofSeconds(60));
        assertEquals(0, budget.used());
    }

    @Test
    void chunksOfABusySourceGrowUpToTheirLimitAndNoFurther() throws InterruptedException {
        for (long most : new long[] {64 * KIB, 1 << 20, ArenaSource.CHUNK}) {
            ArenaSource source =
                    ArenaSource.builder().budget(budget).chunkBytes(most).build();
            List<SealedBuffer> held = new ArrayList<>();
            for (int i = 0; i < 4000; i++) {
                held.add(Bytes.sealed(source, 8 * KIB));
            }
            assertTrue(
                    source.openChunks() >= budget.used() / most,
                    "chunks=" + source.openChunks() + " used=" + budget.used() + " most=" + most);
            held.forEach(SealedBuffer::close);
            source.close(Duration.ofSeconds(60));
            assertEquals(0, budget.used());
        }
    }

    @Test
    void sizeOfAChunkHasBounds() {
        for (long wrong : new long[] {-1, 64 * KIB - 1, (1L << 30) + 1}) {
            assertEquals(
                    "size of a chunk: bytes=" + wrong + " smallest=65536 largest=1073741824",
                    assertThrows(
                                    IllegalArgumentException.class,
                                    () -> ArenaSource.builder().chunkBytes(wrong))
                            .getMessage());
        }
    }

    @Test
    void regionIsAtLeastOneByte() {
        try (ArenaSource source = ArenaSource.create(budget, null)) {
            for (long wrong : new long[] {0, -1, Long.MIN_VALUE}) {
                assertEquals(
                        "a region is at least one byte: byteSize=" + wrong,
                        assertThrows(IllegalArgumentException.class, () -> source.allocate(wrong))
                                .getMessage());
            }
            assertEquals(0, budget.used());
        }
    }

    @Test
    void closedSourceLetsBuildersSealWhatTheyHaveAndGrowNoFurther() throws InterruptedException {
        ArenaSource source = ArenaSource.create(budget, null);
        BufferBuilder builder = BufferBuilder.create(source).putInt(1);
        source.close();
        assertEquals(
                "memory source already closed: requested=1048324 openChunks=1",
                assertThrows(IllegalStateException.class, () -> builder.put(new byte[1 << 20]))
                        .getMessage());
        SealedBuffer sealed = builder.seal();
        assertEquals(4, sealed.byteSize());
        sealed.close();
        source.close(Duration.ofSeconds(60));
        assertEquals(0, budget.used());
    }

    @Test
    void builtSourcesTakeWhatTheyAreTold() {
        LeaseLedger ledger = LeaseLedger.full();
        try (ArenaSource source = ArenaSource.create(budget, ledger)) {
            assertSame(ledger, source.trace());
        }
        assertThrows(NullPointerException.class, () -> ArenaSource.builder().budget(null));
        assertThrows(NullPointerException.class, () -> ArenaSource.builder().safety(null));
    }
}
