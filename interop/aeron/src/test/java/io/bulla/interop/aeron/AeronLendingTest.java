// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.PosixException;
import io.bulla.posix.lending.SlabQuota;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Places over Aeron: each message comes once, in its order, and each lease goes back once, whatever Aeron does.
@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class AeronLendingTest {

    private static final int TERM = 1 << 16;
    private static final int BYTES = 200;
    private static final SlabQuota QUOTA = new SlabQuota(4096, 64 << 20);

    @TempDir
    private Path folder;

    @Test
    void placesAndReturnsGoOverAeron() throws Exception {
        // a log that has room for all: no back pressure
        try (LendingPair pair = new LendingPair(folder, SlabQuota.standard(), 1 << 23);
                AeronBorrower borrower = pair.borrow()) {
            pair.awaitAeron(borrower);
            for (int i = 0; i < 10_000; i++) {
                assertTrue(pair.lend(i, 64 + i % 5000));
                try (SealedBuffer message = pair.next(borrower)) {
                    assertEquals(i, LendingPair.number(message));
                    assertEquals(64 + i % 5000, message.byteSize());
                }
            }
            assertEquals(10_000, pair.lender.byAeron(), pair.lender.toString());
            pair.awaitNothingLent();
            assertEquals(List.of(), pair.errors);
            // the returns came over Aeron, too: the socket's thread has heard of none
            assertTrue(pair.lender.toString().contains("returns: 10000"), pair.lender.toString());
        }
    }

    @Test
    void whatIsLentBeforeTheBorrowerReadsComesFirst() throws Exception {
        try (LendingPair pair = new LendingPair(folder, QUOTA, TERM);
                AeronBorrower borrower = pair.borrow()) {
            for (int i = 0; i < 500; i++) {
                assertTrue(pair.lend(i, BYTES));
            }
            assertEquals(0, pair.lender.byAeron());
            long[] numbers = {0, 500};
            // from here on the way changes while messages are under way
            LendingPair.await(() -> {
                // not, while it has not heard what has come
                numbers[1] += lent(pair, numbers[1]) ? 1 : 0;
                if (numbers[0] < numbers[1]) {
                    try (SealedBuffer message = pair.next(borrower)) {
                        assertEquals(numbers[0]++, LendingPair.number(message));
                    }
                }
                return pair.lender.byAeron() > 100;
            });
            while (numbers[0] < numbers[1]) {
                try (SealedBuffer message = pair.next(borrower)) {
                    assertEquals(numbers[0]++, LendingPair.number(message));
                }
            }
            pair.awaitNothingLent();
        }
    }

    @Test
    void backPressureGoesToTheSocketAndBack() throws Exception {
        try (LendingPair pair = new LendingPair(folder, QUOTA, TERM);
                AeronBorrower borrower = pair.borrow()) {
            pair.awaitAeron(borrower);
            int lent = 0;
            for (int round = 0; round < 5; round++) {
                LendingPair.await(() -> pair.places.availableWindow() > 0);
                long before = pair.lender.byAeron();
                for (int i = 0; i < 700; i++) {
                    lendSoon(pair, lent + i);
                }
                long byAeron = pair.lender.byAeron() - before;
                assertTrue(byAeron > 0 && byAeron < 700, "by-aeron=" + byAeron + " " + pair.lender + borrower);
                List<SealedBuffer> held = new ArrayList<>();
                for (int i = 0; i < 700; i++) {
                    held.add(pair.next(borrower));
                }
                for (SealedBuffer each : held) {
                    assertEquals(lent++, LendingPair.number(each));
                    each.close();
                }
                LendingPair.await(() -> {
                    LendingPair.poll(pair.lender);
                    assertNull(LendingPair.none(borrower));
                    return pair.peer.leases() == 0;
                });
            }
            assertTrue(pair.lender.isOverAeron() && borrower.isOverAeron());
            pair.awaitNothingLent();
        }
    }

    @Test
    void moreThanMayBeUnderWayIsNotLent() throws Exception {
        try (LendingPair pair = new LendingPair(folder, QUOTA, 1 << 20);
                AeronBorrower borrower = pair.borrow()) {
            pair.awaitAeron(borrower);
            int lent = 0;
            while (pair.lend(lent, BYTES)) {
                lent++;
            }
            assertEquals(UnderWay.MOST, lent);
            // kept, so no return says that they have come
            Deque<SealedBuffer> held = new ArrayDeque<>();
            for (int i = 0; i < 3000; i++) {
                held.add(pair.next(borrower));
                int number = lent + i;
                LendingPair.await(() -> {
                    LendingPair.poll(pair.lender);
                    SealedBuffer another = LendingPair.none(borrower);
                    if (another != null) {
                        held.add(another);
                    }
                    return lent(pair, number);
                });
                if (held.size() > 2000) {
                    break;
                }
            }
            long number = 0;
            for (SealedBuffer each : held) {
                assertEquals(number++, LendingPair.number(each));
                each.close();
            }
            assertTrue(number > UnderWay.MOST, "received=" + number);
        }
    }

    /// After the borrower has said what has come, where that is not known.
    private static void lendSoon(LendingPair pair, long number) {
        LendingPair.await(() -> {
            if (lent(pair, number)) {
                return true;
            }
            LendingPair.poll(pair.lender);
            return false;
        });
    }

    private static boolean lent(LendingPair pair, long number) {
        try {
            return pair.lend(number, BYTES);
        } catch (IOException gone) {
            throw new AssertionError(gone);
        }
    }

    @Test
    void aQuotaThatIsUsedUpComesBackWithTheReturns() throws Exception {
        try (LendingPair pair = new LendingPair(folder, new SlabQuota(3, 1 << 20), TERM);
                AeronBorrower borrower = pair.borrow()) {
            pair.awaitAeron(borrower);
            List<SealedBuffer> held = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                assertTrue(pair.lend(i, BYTES));
                held.add(pair.next(borrower));
            }
            assertFalse(pair.lend(3, BYTES));
            held.removeFirst().close();
            // no poll: lend itself takes in what has come
            assertTrue(pair.lend(3, BYTES));
            held.forEach(SealedBuffer::close);
            pair.next(borrower).close();
            pair.awaitNothingLent();
        }
    }

    /// What is closed in the middle.
    enum Loss {
        PLACES(pair -> pair.places.close()),
        RETURNS(pair -> pair.returns.close()),
        PLACES_AT_BORROWER(pair -> pair.placesAtBorrower.close()),
        RETURNS_OF_BORROWER(pair -> pair.returnsOfBorrower.close()),
        LENDERS_CLIENT(pair -> pair.lendersAeron.close()),
        BORROWERS_CLIENT(pair -> pair.borrowersAeron.close());

        private final Consumer<LendingPair> loss;

        Loss(Consumer<LendingPair> loss) {
            this.loss = loss;
        }
    }

    @ParameterizedTest
    @EnumSource(Loss.class)
    void whatAeronLosesComesOnceOverTheSocket(Loss loss) throws Exception {
        try (LendingPair pair = new LendingPair(folder, QUOTA, 1 << 20);
                AeronBorrower borrower = pair.borrow()) {
            pair.awaitAeron(borrower);
            List<SealedBuffer> held = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                assertTrue(pair.lend(i, BYTES));
                held.add(pair.next(borrower));
            }
            // returns under way, which the lender has not taken in, and places, which the borrower has not
            held.forEach(SealedBuffer::close);
            for (int i = 100; i < 200; i++) {
                assertTrue(pair.lend(i, BYTES));
            }
            loss.loss.accept(pair);
            int lent = 200;
            for (int number = 100; number < 3000; number++) {
                if (lent < 3000) {
                    assertTrue(pair.lend(lent++, BYTES));
                }
                try (SealedBuffer message = pair.next(borrower)) {
                    assertEquals(number, LendingPair.number(message));
                }
            }
            pair.awaitNothingLent();
            assertNull(pair.peer.gone());
        }
    }

    /// The same at any moment, with leases held for any time; a thousand messages, however few a busy machine takes
    /// in so many steps.
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void anyOrderOfStepsKeepsMessagesAndLeases(long seed) throws Exception {
        Random random = new Random(seed);
        try (LendingPair pair = new LendingPair(folder, new SlabQuota(600, 64 << 20), TERM);
                AeronBorrower borrower = pair.borrow();
                MemfdSourceCloser files = new MemfdSourceCloser()) {
            List<SealedBuffer> held = new ArrayList<>();
            long lent = 0;
            long received = 0;
            int lossAt = random.nextInt(6000);
            Loss loss = Loss.values()[random.nextInt(Loss.values().length)];
            for (int step = 0; step < 6000 || lent <= 1000 || received < lent; step++) {
                if (step == lossAt) {
                    loss.loss.accept(pair);
                }
                int choice = random.nextInt(100);
                if (choice < 40 && (step < 6000 || lent <= 1000)) {
                    int burst = random.nextInt(10) == 0 ? 400 : 1;
                    for (int i = 0; i < burst; i++) {
                        try (SealedBuffer message = random.nextInt(50) == 0
                                ? files.message(lent)
                                : pair.message(lent, 16 + random.nextInt(500))) {
                            if (!pair.lender.lend(message)) {
                                break;
                            }
                            lent++;
                        }
                    }
                } else if (choice < 85) {
                    for (int i = random.nextInt(30); i >= 0; i--) {
                        SealedBuffer message = borrower.poll();
                        if (message != null) {
                            assertEquals(received++, LendingPair.number(message), "seed=" + seed + " loss=" + loss);
                            held.add(message);
                        }
                    }
                } else if (choice < 97) {
                    while (!held.isEmpty() && random.nextInt(20) > 0) {
                        held.remove(random.nextInt(held.size())).close();
                    }
                } else {
                    pair.lender.poll();
                }
            }
            held.forEach(SealedBuffer::close);
            assertEquals(lent, received);
            LendingPair.await(() -> {
                LendingPair.poll(pair.lender);
                assertNull(LendingPair.none(borrower));
                return pair.peer.leases() == 0;
            });
            assertNull(pair.peer.gone());
        }
    }

    /// Messages in sealed files, which go with a descriptor.
    private static final class MemfdSourceCloser implements AutoCloseable {

        private final MemfdSource source = MemfdSource.create();

        SealedBuffer message(long number) {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(source, 64)) {
                return builder.putLong(number).putLong(~number).seal();
            }
        }

        @Override
        public void close() {}
    }

    @Test
    void afterTheLendersEndWhatItLentComesAndThenTheEnd() throws Exception {
        try (LendingPair pair = new LendingPair(folder, QUOTA, TERM)) {
            AeronBorrower borrower = pair.borrow();
            pair.awaitAeron(borrower);
            for (int i = 0; i < 100; i++) {
                assertTrue(pair.lend(i, BYTES));
            }
            pair.peer.close();
            assertThrows(PosixException.PeerClosed.class, () -> pair.lend(100, BYTES));
            for (int i = 0; i < 100; i++) {
                try (SealedBuffer message = pair.nextOf(borrower)) {
                    assertEquals(i, LendingPair.number(message));
                }
            }
            assertThrows(EOFException.class, () -> endOf(borrower));
            borrower.close();
            assertThrows(EOFException.class, borrower::poll);
            // with the string, whatever Aeron had of it
            LendingPair.await(() -> pair.peer.leases() == 0 && pair.handles.open() == 0);
        }
    }

    private static void endOf(AeronBorrower borrower) throws IOException {
        for (long end = System.nanoTime() + LendingPair.PATIENCE.toNanos(); System.nanoTime() < end; ) {
            assertNull(borrower.poll());
        }
    }

    @Test
    void aBorrowerThatClosesKeepsItsBuffers() throws Exception {
        try (LendingPair pair = new LendingPair(folder, QUOTA, TERM)) {
            List<SealedBuffer> held = new ArrayList<>();
            try (AeronBorrower borrower = pair.borrow()) {
                pair.awaitAeron(borrower);
                for (int i = 0; i < 50; i++) {
                    assertTrue(pair.lend(i, BYTES));
                }
                for (int i = 0; i < 30; i++) {
                    held.add(pair.next(borrower));
                }
            }
            for (int i = 0; i < 30; i++) {
                assertEquals(i, LendingPair.number(held.get(i)));
                held.get(i).close();
            }
            // those that were never polled go with the string
            LendingPair.await(() -> pair.peer.leases() == 0 && pair.handles.open() == 0);
        }
    }

    @Test
    void aSecondLinkIsRefused() throws Exception {
        try (LendingPair pair = new LendingPair(folder, QUOTA, TERM);
                AeronBorrower borrower = pair.borrow()) {
            assertFalse(borrower.isOverAeron());
            assertThrows(IllegalStateException.class, pair::borrow);
        }
    }
}
