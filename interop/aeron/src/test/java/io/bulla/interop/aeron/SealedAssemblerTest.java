// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.NoOpenHandles;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.IntPredicate;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NoOpenHandles.class)
class SealedAssemblerTest {

    private static final int LIMIT = 100_000;

    @TempDir
    private Path folder;

    private Embedded media;
    private Watched memory;
    private SealedAssembler assembler;
    private Subscription subscription;
    private final Queue<byte[]> arrived = new ArrayDeque<>();

    @BeforeEach
    void launch(MemorySource source) {
        media = new Embedded(folder);
        memory = new Watched(source);
        assembler = new SealedAssembler(memory, LIMIT, (message, header) -> arrived.add(Messages.take(message)));
        subscription = media.subscribe(Embedded.IPC, assembler);
    }

    @AfterEach
    void nothingIsOut() {
        media.close();
        assembler.close();
        assertEquals(0, memory.bytesOut());
        assertEquals(0, assembler.halves());
    }

    private void send(Publication publication, byte[] bytes, MemorySource source) {
        try (SealedBuffer message = Messages.sealed(source, bytes)) {
            Embedded.offer(publication, message, () -> {});
        }
    }

    private void pollAll(FragmentHandler handler) {
        Embedded.await(() -> subscription.poll(handler, 10) == 0);
    }

    @Test
    void sessionsMayInterleave(MemorySource source) {
        ExclusivePublication[] publications = {
            media.publishAlone(subscription), media.publishAlone(subscription), media.publishAlone(subscription)
        };
        for (int i = 0; i < 3; i++) {
            send(publications[i], Messages.bytes(20_000 + i), source);
        }
        int most = 0;
        while (subscription.poll(assembler, 1) > 0) {
            most = Math.max(most, assembler.halves());
        }
        assertEquals(3, most);
        assertEquals(3, arrived.size());
        for (byte[] message : arrived) {
            assertArrayEquals(Messages.bytes(message.length), message);
        }
        assertEquals(
                20_000 + 20_001 + 20_002,
                arrived.stream().mapToInt(m -> m.length).sum());
    }

    @Test
    void sessionThatGoesAwayLeavesNoMemoryBehind(MemorySource source) {
        ExclusivePublication publication = media.publishAlone(subscription);
        send(publication, Messages.bytes(50_000), source);
        subscription.poll(assembler, 3);
        assertEquals(1, assembler.halves());
        assertTrue(memory.bytesOut() > 0);
        publication.revoke();
        // Aeron's own thread drops the half, then gives its memory back
        Embedded.await(() -> assembler.halves() == 0 && memory.bytesOut() == 0);
        assertEquals(0, arrived.size());
    }

    /// The image is gone, and was said to be, while a poll still runs.
    @Test
    void firstFragmentOfAnImageThatIsGoneLeavesNoMemoryBehind(MemorySource source) {
        send(media.publishAlone(subscription), Messages.bytes(50_000), source);
        boolean[] polled = {false};
        subscription.poll(
                (buffer, offset, length, header) -> {
                    subscription.close();
                    assembler.onFragment(buffer, offset, length, header);
                    polled[0] = true;
                },
                1);
        assertTrue(polled[0]);
        assertEquals(0, assembler.halves());
        assertEquals(0, memory.bytesOut());
    }

    @Test
    void longestMessageArrivesAndALongerOneTakesNoMemoryBeyondTheLimit(MemorySource source) {
        Publication publication = media.publish(subscription);
        send(publication, Messages.bytes(LIMIT), source);
        pollAll(assembler);
        assertArrayEquals(Messages.bytes(LIMIT), arrived.remove());

        send(publication, Messages.bytes(LIMIT + 1), source);
        send(publication, Messages.bytes(LIMIT - 1), source);
        pollAll(assembler);
        assertArrayEquals(Messages.bytes(LIMIT - 1), arrived.remove());
        assertEquals(1, media.errors.size(), media.errors::toString);
        int fragment = publication.maxPayloadLength();
        int whole = LIMIT / fragment * fragment;
        assertEquals(
                "message too long: received=" + whole + " fragment=" + (LIMIT + 1 - whole) + " limit=" + LIMIT,
                media.errors.getFirst().getMessage());
        assertEquals(0, memory.bytesOut());
    }

    @Test
    void singleFragmentBeyondTheLimitTakesNone(MemorySource source) {
        try (SealedAssembler strict = new SealedAssembler(memory, 10, (message, header) -> message.close())) {
            send(media.publish(subscription), Messages.bytes(11), source);
            pollAll(strict);
        }
        assertEquals(0, memory.bytesTaken());
        assertEquals(
                "message too long: received=0 fragment=11 limit=10",
                media.errors.getFirst().getMessage());
    }

    @Test
    void messageWithoutMemoryIsGivenUpAndTheNextOneArrives(MemorySource source) {
        Publication publication = media.publish(subscription);
        memory.limit = 30_000;
        send(publication, Messages.bytes(60_000), source);
        send(publication, Messages.bytes(900), source);
        pollAll(assembler);
        assertArrayEquals(Messages.bytes(900), arrived.remove());
        assertEquals(1, media.errors.size(), media.errors::toString);
        assertTrue(media.errors.getFirst().getMessage().startsWith("refused: requested="));
    }

    @Test
    void fragmentWaitsInTheLogUntilThereIsMemory(MemorySource source) {
        Publication publication = media.publish(subscription);
        send(publication, Messages.bytes(60_000), source);
        for (long limit : new long[] {0, 3000, 30_000}) {
            memory.limit = limit;
            Embedded.await(() -> subscription.controlledPoll(assembler::onControlledFragment, 10) == 0);
            assertTrue(memory.bytesOut() <= limit);
            assertEquals(0, arrived.size());
        }
        memory.limit = Long.MAX_VALUE;
        Embedded.await(
                () -> subscription.controlledPoll(assembler::onControlledFragment, 10) >= 0 && !arrived.isEmpty());
        assertArrayEquals(Messages.bytes(60_000), arrived.remove());
        assertEquals(0, media.errors.size(), media.errors::toString);
    }

    /// The handler forwards into a source that is full: its business, not that of the one where messages land.
    @ParameterizedTest
    @ValueSource(ints = {900, 20_000})
    void memoryLimitOfTheHandlerIsNotTheSources(int size, MemorySource source) {
        Queue<byte[]> seen = new ArrayDeque<>();
        SealedAssembler forwarding = new SealedAssembler(memory, LIMIT, (message, header) -> {
            seen.add(Messages.take(message));
            if (seen.size() == 1) {
                throw new MemoryLimitException("handler is full: size=" + size);
            }
        });
        Publication publication = media.publish(subscription);
        send(publication, Messages.bytes(size), source);
        send(publication, Messages.bytes(size + 1), source);
        for (int polls = 0; polls < 100; polls++) {
            subscription.controlledPoll(forwarding::onControlledFragment, 10);
        }
        assertArrayEquals(Messages.bytes(size), seen.remove());
        assertArrayEquals(Messages.bytes(size + 1), seen.remove());
        assertEquals(0, seen.size(), "delivered once");
        assertEquals(
                List.of("handler is full: size=" + size),
                media.errors.stream().map(Throwable::getMessage).toList());
        forwarding.close();
    }

    /// A seal that fails ends the builder, and the fragments before the last one do not come again.
    @Test
    void messageThatCannotBeSealedIsGivenUpByName(MemorySource source) {
        Publication publication = media.publish(subscription);
        send(publication, Messages.bytes(20_000), source);
        send(publication, Messages.bytes(30_000), source);
        memory.sealsRefused = 1;
        Embedded.await(
                () -> subscription.controlledPoll(assembler::onControlledFragment, 10) >= 0 && !arrived.isEmpty());
        assertArrayEquals(Messages.bytes(30_000), arrived.remove());
        assertEquals(1, media.errors.size(), media.errors::toString);
        String error = media.errors.getFirst().getMessage();
        assertTrue(error.startsWith("message cannot be sealed: sessionId="), error);
        assertTrue(error.endsWith(" received=20000"), error);
        assertEquals(0, memory.bytesOut());
    }

    /// A message of one fragment comes again whole.
    @Test
    void singleFragmentThatCannotBeSealedComesAgain(MemorySource source) {
        Publication publication = media.publish(subscription);
        send(publication, Messages.bytes(900), source);
        memory.sealsRefused = 3;
        Embedded.await(
                () -> subscription.controlledPoll(assembler::onControlledFragment, 10) >= 0 && !arrived.isEmpty());
        assertArrayEquals(Messages.bytes(900), arrived.remove());
        assertEquals(0, memory.sealsRefused);
        assertEquals(0, media.errors.size(), media.errors::toString);
    }

    /// As on a stream that Aeron was told not to repair.
    @Test
    void messageWithAFragmentMissingIsGivenUp(MemorySource source) {
        Publication publication = media.publish(subscription);
        for (int lost : new int[] {0, 1, 5}) {
            send(publication, Messages.bytes(20_000), source);
            send(publication, Messages.bytes(3000), source);
            pollAll(losing(fragment -> fragment == lost));
            assertArrayEquals(Messages.bytes(3000), arrived.remove(), "lost=" + lost);
            assertEquals(0, arrived.size());
        }
        // of the first one, nothing was there to give up
        assertEquals(2, media.errors.size(), media.errors::toString);
        assertTrue(media.errors.getFirst().getMessage().startsWith("fragment missing: sessionId="));
    }

    @Test
    void messageWithoutItsEndIsGivenUpWhenTheNextOneBegins(MemorySource source) {
        Publication publication = media.publish(subscription);
        int fragments = 20_000 / publication.maxPayloadLength() + 1;
        for (int next : new int[] {3000, 10}) {
            send(publication, Messages.bytes(20_000), source);
            send(publication, Messages.bytes(next), source);
            pollAll(losing(fragment -> fragment == fragments - 1));
            assertArrayEquals(Messages.bytes(next), arrived.remove());
            assertEquals(0, assembler.halves());
            assertEquals(0, memory.bytesOut());
        }
    }

    private FragmentHandler losing(IntPredicate lost) {
        int[] count = {0};
        return (buffer, offset, length, header) -> {
            if (!lost.test(count[0]++)) {
                assembler.onFragment(buffer, offset, length, header);
            }
        };
    }

    @Test
    void bufferAroundABareAddressIsRefused() {
        UnsafeBuffer bare = new UnsafeBuffer(0, 100);
        assertEquals(
                "no memory that can be checked beneath: buffer=" + UnsafeBuffer.class.getName(),
                assertThrows(IllegalArgumentException.class, () -> AgronaMemory.of(bare, 0, 10))
                        .getMessage());
        assertFalse(AgronaMemory.of(new UnsafeBuffer(new byte[8], 2, 6), 1, 5).isNative());
        assertThrows(IndexOutOfBoundsException.class, () -> AgronaMemory.of(new UnsafeBuffer(new byte[8], 2, 6), 1, 6));
    }
}
