// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.aeron.ChannelUriStringBuilder;
import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.aeron.OfferResult.Outcome;
import io.bulla.iovec.CopyTally;
import io.bulla.testkit.NoOpenHandles;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Queue;
import java.util.Set;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NoOpenHandles.class)
class SealedOfferTest {

    private static final int MEBIBYTE = 1 << 20;

    @TempDir
    private Path folder;

    private Embedded media;
    private final Queue<byte[]> arrived = new ArrayDeque<>();

    @BeforeEach
    void launch() {
        media = new Embedded(folder);
    }

    @AfterEach
    void shutDown() {
        media.close();
    }

    private SealedAssembler collecting(MemorySource source) {
        return new SealedAssembler(source, MEBIBYTE + 64, (message, header) -> arrived.add(Messages.take(message)));
    }

    @ParameterizedTest
    @ValueSource(strings = {Embedded.IPC, Embedded.UDP})
    void everySizeArrivesWholeInAnyNumberOfRegions(String channel, MemorySource source) {
        SealedAssembler assembler = collecting(source);
        Subscription subscription = media.subscribe(channel, assembler);
        Publication publication = media.publish(subscription);
        int fragment = publication.maxPayloadLength();
        for (int size :
                new int[] {0, 1, 31, fragment - 1, fragment, fragment + 1, 2 * fragment, 2 * fragment + 1, MEBIBYTE}) {
            for (int regions : new int[] {1, 2, 7}) {
                byte[] bytes = Messages.bytes(size);
                try (SealedBuffer message = Messages.sealed(source, bytes, regions)) {
                    Embedded.offer(publication, message, () -> subscription.poll(assembler, 10));
                }
                Embedded.await(() -> subscription.poll(assembler, 10) >= 0 && !arrived.isEmpty());
                assertArrayEquals(bytes, arrived.remove(), "size=" + size + " regions=" + regions);
            }
        }
        assertEquals(0, media.errors.size(), media.errors::toString);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 5, 1300, 40_000})
    void headerComesFirst(int size, MemorySource source) {
        SealedAssembler assembler = collecting(source);
        Subscription subscription = media.subscribe(Embedded.IPC, assembler);
        Publication publication = media.publish(subscription);
        byte[] bytes = Messages.bytes(size);
        try (SealedBuffer message = Messages.sealed(source, bytes, 3)) {
            for (byte[] header : new byte[][] {{}, Messages.bytes(24), Messages.bytes(2000)}) {
                assertTrue(SealedOffer.offer(publication, new UnsafeBuffer(header), message)
                        .isAccepted());
                Embedded.await(() -> subscription.poll(assembler, 100) >= 0 && !arrived.isEmpty());
                byte[] all = Arrays.copyOf(header, header.length + size);
                System.arraycopy(bytes, 0, all, header.length, size);
                assertArrayEquals(all, arrived.remove());
            }
        }
    }

    @Test
    void backPressureAndTurningTermsLoseNothing(MemorySource source) {
        SealedAssembler assembler = collecting(source);
        Subscription subscription = media.subscribe("aeron:ipc?term-length=64k", assembler);
        Publication publication = media.publish(subscription);
        Set<Outcome> seen = EnumSet.noneOf(Outcome.class);
        for (int size = 1000; size < 1400; size++) {
            try (SealedBuffer small = Messages.sealed(source, Messages.bytes(size));
                    SealedBuffer large = Messages.sealed(source, Messages.bytes(size * 5), 2)) {
                for (SealedBuffer message : new SealedBuffer[] {small, large}) {
                    Outcome outcome = SealedOffer.offer(publication, message).outcome();
                    while (outcome != Outcome.ACCEPTED) {
                        assertTrue(outcome.isWorthRetrying(), outcome::name);
                        seen.add(outcome);
                        if (outcome == Outcome.BACK_PRESSURED) {
                            subscription.poll(assembler, 3);
                        }
                        outcome = SealedOffer.offer(publication, message).outcome();
                    }
                }
            }
        }
        Embedded.await(() -> subscription.poll(assembler, 10) >= 0 && arrived.size() >= 800);
        assertEquals(EnumSet.of(Outcome.BACK_PRESSURED, Outcome.ADMIN_ACTION), seen);
        for (int size = 1000; size < 1400; size++) {
            assertArrayEquals(Messages.bytes(size), arrived.remove());
            assertArrayEquals(Messages.bytes(size * 5), arrived.remove());
        }
        assertEquals(0, arrived.size());
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 5000})
    void withoutReaderNothingIsSentAndAfterwardsItIsClosed(int size, MemorySource source) {
        Publication publication = media.aeron.addPublication(Embedded.IPC, Embedded.STREAM);
        try (SealedBuffer message = Messages.sealed(source, Messages.bytes(size))) {
            CopyTally before = CopyTally.snapshot();
            assertEquals(new OfferResult(Outcome.NOT_CONNECTED, -1), SealedOffer.offer(publication, message));
            assertTrue(Outcome.NOT_CONNECTED.isWorthRetrying());
            publication.close();
            assertEquals(Outcome.CLOSED, SealedOffer.offer(publication, message).outcome());
            assertFalse(Outcome.CLOSED.isWorthRetrying());
            assertEquals(0, CopyTally.snapshot().since(before).copies());
            assertEquals(size, message.byteSize());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 5000})
    void streamEndsAtItsLastPosition(int size, MemorySource source) {
        int term = 64 << 10;
        String atTheEnd = new ChannelUriStringBuilder()
                .media("ipc")
                .initialPosition((long) term * Integer.MAX_VALUE + term - 9000L / 32 * 32, 0, term)
                .build();
        SealedAssembler assembler = collecting(source);
        Subscription subscription = media.subscribe("aeron:ipc", assembler);
        ExclusivePublication publication = media.publishAlone(subscription, atTheEnd);
        try (SealedBuffer message = Messages.sealed(source, Messages.bytes(size))) {
            Outcome outcome = SealedOffer.offer(publication, message).outcome();
            int accepted = 0;
            while (outcome.isWorthRetrying() || outcome == Outcome.ACCEPTED) {
                accepted += outcome == Outcome.ACCEPTED ? 1 : 0;
                subscription.poll(assembler, 10);
                outcome = SealedOffer.offer(publication, message).outcome();
            }
            assertEquals(Outcome.MAX_POSITION, outcome);
            assertFalse(outcome.isWorthRetrying());
            assertTrue(accepted > 0);
            assertEquals(accepted, arrived.size());
        }
    }

    @Test
    void tooLongIsRefusedWithItsNumbers(MemorySource source) {
        SealedAssembler assembler = collecting(source);
        Subscription subscription = media.subscribe("aeron:ipc?term-length=64k", assembler);
        Publication publication = media.publish(subscription);
        int limit = publication.maxMessageLength();
        try (SealedBuffer fits = Messages.sealed(source, Messages.bytes(limit - 24));
                SealedBuffer tooLong = Messages.sealed(source, Messages.bytes(limit - 23))) {
            UnsafeBuffer header = new UnsafeBuffer(new byte[24]);
            long position = publication.position();
            String message = assertThrows(
                            IllegalArgumentException.class, () -> SealedOffer.offer(publication, header, tooLong))
                    .getMessage();
            assertEquals(
                    "message too long for the publication: byteSize=" + (limit - 23)
                            + " headerBytes=24 maxMessageLength=" + limit,
                    message);
            assertEquals(position, publication.position());
            assertTrue(SealedOffer.offer(publication, header, fits).isAccepted());
        }
    }

    @Test
    void everyCopyIntoTheLogIsCounted(MemorySource source) {
        SealedAssembler assembler = new SealedAssembler(source, MEBIBYTE, (message, header) -> message.close());
        Subscription subscription = media.subscribe(Embedded.IPC, assembler);
        Publication publication = media.publish(subscription);
        try (SealedBuffer small = Messages.sealed(source, Messages.bytes(100));
                SealedBuffer large = Messages.sealed(source, Messages.bytes(100_000), 4)) {
            CopyTally before = CopyTally.snapshot();
            assertTrue(SealedOffer.offer(publication, small).isAccepted());
            assertTrue(SealedOffer.offer(publication, large).isAccepted());
            assertEquals(new CopyTally(2, 100_100), CopyTally.snapshot().since(before));
        }
    }

    /// Its memory is overwritten at the last close: what arrives shows whether Aeron read it before.
    @Test
    void handleOfTheCallerMayBeClosedWhileAeronCopies(MemorySource source) {
        SealedAssembler assembler = collecting(source);
        Subscription subscription = media.subscribe(Embedded.IPC, assembler);
        Publication publication = media.publish(subscription);
        byte[] bytes = Messages.bytes(50_000);
        SealedBuffer message = Messages.sealed(source, bytes);
        UnsafeBuffer header = new UnsafeBuffer(new byte[8]) {
            @Override
            public void getBytes(int index, byte[] destination) {
                message.close();
                super.getBytes(index, destination);
            }
        };
        assertTrue(SealedOffer.offer(publication, header, message).isAccepted());
        assertFalse(message.isOpen());
        Embedded.await(() -> subscription.poll(assembler, 100) >= 0 && !arrived.isEmpty());
        byte[] all = arrived.remove();
        assertArrayEquals(bytes, Arrays.copyOfRange(all, 8, all.length));
        assertThrows(ReleasedBufferException.class, () -> SealedOffer.offer(publication, message));
    }

    @Test
    void memoryOfTheHeapFitsIntoAClaimOnly(MemorySource source) {
        SealedAssembler assembler = collecting(source);
        Subscription subscription = media.subscribe(Embedded.IPC, assembler);
        Publication publication = media.publish(subscription);
        byte[] bytes = Messages.bytes(100);
        try (SealedBuffer small = SealedBuffer.adopt(MemorySegment.ofArray(bytes), () -> {});
                SealedBuffer large = SealedBuffer.adopt(MemorySegment.ofArray(Messages.bytes(5000)), () -> {})) {
            assertTrue(SealedOffer.offer(publication, small).isAccepted());
            Embedded.await(() -> subscription.poll(assembler, 100) >= 0 && !arrived.isEmpty());
            assertArrayEquals(bytes, arrived.remove());
            assertEquals(
                    "no DirectBuffer over this: byteSize=5000 limit=2147483647 native=false",
                    assertThrows(IllegalArgumentException.class, () -> SealedOffer.offer(publication, large))
                            .getMessage());
        }
    }

    /// A claim that is neither committed nor aborted would stop the stream.
    @Test
    void failedCopyIntoAClaimLeavesTheStreamGoing(MemorySource source) {
        SealedAssembler assembler = collecting(source);
        Subscription subscription = media.subscribe(Embedded.IPC, assembler);
        Publication publication = media.publish(subscription);
        UnsafeBuffer broken = new UnsafeBuffer(new byte[8]) {
            @Override
            public byte[] byteArray() {
                throw new IllegalStateException("broken header");
            }
        };
        try (SealedBuffer message = Messages.sealed(source, Messages.bytes(10))) {
            assertEquals(
                    "broken header",
                    assertThrows(IllegalStateException.class, () -> SealedOffer.offer(publication, broken, message))
                            .getMessage());
            assertTrue(SealedOffer.offer(publication, message).isAccepted());
        }
        Embedded.await(() -> subscription.poll(assembler, 100) >= 0 && !arrived.isEmpty());
        assertArrayEquals(Messages.bytes(10), arrived.remove());
    }
}
