// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.ancestor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.testkit.Bytes;
import io.bulla.testkit.Compiler;
import io.bulla.testkit.NoOpenHandles;
import io.bulla.testkit.Racers;
import io.bulla.testkit.SlowChannel;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Bugs of Open MPI where a buffer was released too early, twice, or by somebody who did not own it.
@ExtendWith(NoOpenHandles.class)
class WhoReleasesTest {

    private static final byte[] MESSAGE = Bytes.numbered(3, 300);

    /// Open MPI 73eeb7f0d2 (2007): the caller waits for one callback, not all, and releases the buffer.
    @Nested
    class CallerReleasesBeforeTheCallbacks {

        @Test
        void sendsThatBorrowTheCallersReferenceReadFreedMemory() {
            CHeap.Counted buffer = new CHeap.Counted(CHeap.malloc(MESSAGE));
            List<CHeap.Counted> queued = List.of(buffer, buffer, buffer);
            assertArrayEquals(MESSAGE, queued.get(0).read());
            buffer.release();
            assertArrayEquals(CHeap.poison(MESSAGE.length), queued.get(1).read());
        }

        @Test
        void everySendHoldsItsOwn(MemorySource source) {
            SealedBuffer buffer = Bytes.seal(source, MESSAGE);
            SealedBuffer[] queued = buffer.shares(3);
            queued[0].close();
            buffer.close();
            assertArrayEquals(MESSAGE, Bytes.of(queued[1]));
            assertArrayEquals(MESSAGE, Bytes.of(queued[2]));
            IoVec escaped = queued[2].iovec();
            queued[1].close();
            queued[2].close();
            assertArrayEquals(CHeap.poison(MESSAGE.length), Bytes.of(escaped), "and the last one ends it");
        }
    }

    /// Open MPI 81af57707f (2005): the caller releases a buffer that the messaging layer releases too.
    @Nested
    class CallerAndLayerBothRelease {

        @Test
        void secondReleaseTakesTheReferenceOfSomebodyElse() {
            CHeap.Counted buffer = new CHeap.Counted(CHeap.malloc(MESSAGE));
            CHeap.Counted other = buffer.retain();
            buffer.release();
            buffer.release();
            assertArrayEquals(CHeap.poison(MESSAGE.length), other.read());
        }

        @Test
        void secondCloseOfAHandleChangesNothing(MemorySource source) {
            SealedBuffer buffer = Bytes.seal(source, MESSAGE);
            try (SealedBuffer other = buffer.share()) {
                buffer.close();
                buffer.close();
                assertEquals(1, other.holders());
                assertArrayEquals(MESSAGE, Bytes.of(other));
                assertThrows(ReleasedBufferException.class, buffer::iovec);
            }
        }

        @Test
        void handOverLeavesTheCallerNothingToRelease(MemorySource source) {
            SealedBuffer callers = Bytes.seal(source, MESSAGE);
            try (SealedBuffer layers = callers.move()) {
                callers.close();
                assertEquals(1, layers.holders());
                assertArrayEquals(MESSAGE, Bytes.of(layers));
            }
        }
    }

    /// Open MPI 285429a1c6 (2013): released after the send was queued, and again in its callback.
    @Nested
    class SendAndCallbackBothRelease {

        @Test
        void secondReleaseFreesTwice() {
            CHeap.Counted buffer = new CHeap.Counted(CHeap.malloc(MESSAGE));
            Runnable callback = () -> CHeap.free(buffer.payload());
            CHeap.free(buffer.payload());
            assertEquals(
                    "free(): double free detected",
                    assertThrows(IllegalStateException.class, callback::run).getMessage());
        }

        @Test
        void closeBesideCloseEndsOneClaimOnce(MemorySource source) throws Exception {
            try (Racers racers = new Racers(2)) {
                for (int round = 0; round < 2_000; round++) {
                    SealedBuffer buffer = Bytes.seal(source, MESSAGE);
                    SealedBuffer sends = buffer.share();
                    racers.race(sends::close, sends::close);
                    assertEquals(1, buffer.holders());
                    buffer.close();
                }
            }
        }
    }

    /// Open MPI 590a87c730 (2014): a buffer on the stack is sent, and the callback frees it.
    @Nested
    class CallbackFreesTheStack {

        @Test
        void bufferOnTheStackIsFreed() {
            CHeap.Counted buffer = new CHeap.Counted(CHeap.onStack(MESSAGE));
            assertEquals(
                    "free(): invalid pointer",
                    assertThrows(IllegalStateException.class, buffer::release).getMessage());
        }

        @Test
        void onlyFactoriesMakeBuffers() {
            assertEquals(List.of(), Compiler.errors("io.bulla.buffer.BufferBuilder.create(null).seal();"));
            assertTrue(
                    Compiler.errors("new io.bulla.buffer.SealedBuffer(null, null);")
                            .toString()
                            .contains("is not public in io.bulla.buffer.SealedBuffer"),
                    "a buffer without a count does not compile");
            assertTrue(Compiler.errors("class Mine extends io.bulla.buffer.SealedBuffer {}")
                    .toString()
                    .contains("cannot inherit from final"));
        }

        @Test
        void memoryOfTheCallersIsGivenBackToTheCallerOnce() {
            AtomicInteger givenBack = new AtomicInteger();
            SealedBuffer buffer = SealedBuffer.adopt(MemorySegment.ofArray(MESSAGE), givenBack::incrementAndGet);
            SealedBuffer sends = buffer.share();
            buffer.close();
            assertEquals(0, givenBack.get());
            sends.close();
            sends.close();
            assertEquals(1, givenBack.get());
        }
    }

    /// Open MPI b97838ee45 (2021), issue #8360: a count that is not atomic, in a daemon with threads.
    @Nested
    class TwoThreadsReleaseAtOnce {

        @Test
        void bothThreadsSeeZeroAndFree() {
            CHeap.Counted buffer = new CHeap.Counted(CHeap.malloc(MESSAGE));
            buffer.retain();
            // thread 1 and thread 2, one after the other in each half
            buffer.add(-1);
            buffer.add(-1);
            buffer.freeIfLast();
            assertEquals(
                    "free(): double free detected",
                    assertThrows(IllegalStateException.class, buffer::freeIfLast)
                            .getMessage());
        }

        @Test
        void oneOfManyFrees(MemorySource source) throws Exception {
            AtomicInteger freed = new AtomicInteger();
            try (Racers racers = new Racers(4)) {
                for (int round = 0; round < 2_000; round++) {
                    SealedBuffer buffer = SealedBuffer.adopt(MemorySegment.ofArray(MESSAGE), freed::incrementAndGet);
                    SealedBuffer[] sends = buffer.shares(3);
                    racers.race(buffer::close, sends[0]::close, sends[1]::close, sends[2]::close);
                    assertEquals(round + 1, freed.get());
                }
            }
        }
    }

    /// Open MPI 92c996487c (2017): the PMIx side releases the data that the socket is sending.
    @Nested
    class DataIsReleasedWhileItIsSent {

        @Test
        void tailOfTheMessageIsFreedMemory() {
            CHeap.Counted data = new CHeap.Counted(CHeap.malloc(MESSAGE));
            byte[] head = data.payload().read(100);
            data.release();
            byte[] tail = data.payload().plus(100).read(200);
            assertArrayEquals(Bytes.numbered(3, 100), head);
            assertArrayEquals(CHeap.poison(200), tail);
        }

        @Test
        void sendOnItsWayKeepsItsHandle(MemorySource source) throws Exception {
            SealedBuffer data = Bytes.seal(source, MESSAGE);
            SealedBuffer sends = data.share();
            CountDownLatch halfSent = new CountDownLatch(1);
            CountDownLatch released = new CountDownLatch(1);
            SlowChannel socket = new SlowChannel(new byte[0], 100).between(() -> {
                halfSent.countDown();
                await(released);
            });
            try (ExecutorService sender = Executors.newSingleThreadExecutor()) {
                Future<Long> sent = sender.submit(() -> send(sends, socket));
                halfSent.await();
                data.close();
                released.countDown();
                assertEquals(MESSAGE.length, sent.get());
            }
            assertArrayEquals(MESSAGE, socket.written());
        }

        private static long send(SealedBuffer buffer, SlowChannel socket) throws IOException {
            try (buffer) {
                return buffer.iovec().writeTo(socket);
            }
        }

        private static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
