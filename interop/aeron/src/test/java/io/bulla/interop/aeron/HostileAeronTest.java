// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.aeron.ExclusivePublication;
import io.aeron.logbuffer.BufferClaim;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.SealRefusedException;
import io.bulla.posix.lending.SlabBorrower;
import io.bulla.posix.lending.SlabPeer;
import io.bulla.posix.lending.SlabQuota;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Records in Aeron's log, and words on the socket, that are not true.
@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class HostileAeronTest {

    private static final int TERM = 1 << 16;
    private static final int BYTES = 200;
    private static final int LEASES = 5;

    @TempDir
    private Path folder;

    /// A borrower that speaks by hand, and has read five places.
    private static final class Liar implements SlabBorrower.Link {

        final SlabBorrower borrower;
        final ExclusivePublication returns;
        final List<ByteBuffer> records = new ArrayList<>();
        final List<SealedBuffer> held = new ArrayList<>();
        final List<Integer> words = new ArrayList<>();

        Liar(LendingPair pair) throws IOException {
            borrower = pair.plain;
            returns = pair.returnsOfBorrower;
            borrower.link(this);
            for (int i = 0; i < LEASES; i++) {
                assertTrue(pair.lend(i, BYTES));
            }
            while (records.size() < LEASES) {
                borrower.listenOnce();
            }
            for (ByteBuffer each : records) {
                held.add(Objects.requireNonNull(borrower.openNow(each)));
            }
            borrower.tell(Way.SESSION, returns.sessionId());
            LendingPair.await(() -> {
                LendingPair.poll(pair.lender);
                return pair.lender.isOverAeron() && returns.isConnected();
            });
        }

        @Override
        public boolean giveBack(int slot, int generation, long slab) {
            return true;
        }

        @Override
        public void onWord(int what, long first, long second, ByteBuffer record) {
            words.add(what);
            if (what == Way.PLACE) {
                records.add(
                        ByteBuffer.allocate(SlabPeer.RECORD_BYTES).put(record).flip());
            }
        }

        /// Gives a lease back, perhaps another one than there is.
        void say(long number, long arrived, int lease, int slot, int generation, long slab) {
            ByteBuffer of = records.get(lease);
            say(ByteBuffer.allocate(Way.RETURN_BYTES)
                    .putLong(number)
                    .putLong(arrived)
                    .putInt(of.getInt(8) + slot)
                    .putInt(of.getInt(12) + generation)
                    .putLong(of.getLong(0) + slab)
                    .array());
        }

        void say(byte... bytes) {
            LendingPair.await(() -> returns.offer(new UnsafeBuffer(bytes)) > 0);
        }
    }

    private interface Words {
        void say(Liar liar) throws Exception;
    }

    enum Lie {
        TWICE("a return twice", liar -> {
            liar.say(0, 0, 0, 0, 0, 0);
            liar.say(0, 0, 0, 0, 0, 0);
        }),
        TWICE_WITH_THE_NEXT_NUMBER("no such lease", liar -> {
            liar.say(0, 0, 0, 0, 0, 0);
            liar.say(1, 0, 0, 0, 0, 0);
        }),
        TWICE_THERE_AND_HERE("no such lease", liar -> {
            liar.say(0, 0, 0, 0, 0, 0);
            ByteBuffer first = liar.records.getFirst();
            liar.borrower.giveBack(first.getInt(8), first.getInt(12), first.getLong(0));
        }),
        SLOT_OF_NO_USE("no such lease", liar -> liar.say(0, 0, 0, LEASES + 1, 0, 0)),
        SLOT_BELOW_ZERO("no such lease", liar -> liar.say(0, 0, 0, Integer.MIN_VALUE, 0, 0)),
        OTHER_GENERATION("no such lease", liar -> liar.say(0, 0, 0, 0, 1, 0)),
        OTHER_SLAB("no such lease", liar -> liar.say(0, 0, 0, 0, 0, 1)),
        NUMBER_BELOW_ZERO("a return twice", liar -> liar.say(-7, 0, 0, 0, 0, 0)),
        MORE_PLACES_THAN_THERE_WERE("more places", liar -> liar.say(0, LEASES + 1, 0, 0, 0, 0)),
        PLACES_BELOW_ZERO("more places", liar -> liar.say(0, -1, 0, 0, 0, 0)),
        SHORT("no length", liar -> liar.say(new byte[Way.RETURN_BYTES - 1])),
        LONG("no length", liar -> liar.say(new byte[Way.RETURN_BYTES + 1])),
        WORD_OF_NO_MEANING("of no meaning", liar -> liar.borrower.tell(99, 0)),
        ARRIVED_TOO_MUCH("of no meaning", liar -> liar.borrower.tell(Way.ARRIVED, LEASES + 1)),
        ARRIVED_BELOW_ZERO("of no meaning", liar -> liar.borrower.tell(Way.ARRIVED, -1)),
        OVER_WITH_TOO_MUCH("not under way", liar -> liar.borrower.tell(Way.OVER, LEASES + 1)),
        OVER_BELOW_ZERO("not under way", liar -> liar.borrower.tell(Way.OVER, -1));

        private final String why;
        private final Words words;

        Lie(String why, Words words) {
            this.why = why;
            this.words = words;
        }
    }

    @ParameterizedTest
    @EnumSource(Lie.class)
    void aBorrowerThatLiesIsCutOffAndItsLeasesRest(Lie lie) throws Exception {
        try (LendingPair pair = new LendingPair(folder, SlabQuota.standard(), TERM)) {
            Liar liar = new Liar(pair);
            lie.words.say(liar);
            LendingPair.await(() -> {
                try {
                    pair.lender.poll();
                } catch (IOException gone) {
                    // said after the lie
                }
                return pair.peer.gone() != null;
            });
            assertTrue(pair.peer.gone().contains(lie.why), pair.peer.gone());
            assertEquals(1, pair.slabs.figures().cutOff());
            int rest = pair.peer.leases();
            assertTrue(rest >= LEASES - 1, "leases=" + rest);
            // what comes later touches nothing
            liar.say(1, 0, 1, 0, 0, 0);
            try {
                pair.lender.poll();
            } catch (IOException gone) {
                // as above
            }
            assertEquals(rest, pair.peer.leases());
            for (int i = 0; i < LEASES; i++) {
                assertEquals(i, LendingPair.number(liar.held.get(i)));
            }
            liar.held.forEach(SealedBuffer::close);
            liar.borrower.close();
            LendingPair.await(() -> pair.peer.leases() == 0 && pair.handles.open() == 0);
        }
    }

    @Test
    void aReturnOutOfTurnEndsAeronAndNoMore() throws Exception {
        try (LendingPair pair = new LendingPair(folder, SlabQuota.standard(), TERM)) {
            Liar liar = new Liar(pair);
            liar.say(3, 0, 3, 0, 0, 0);
            LendingPair.await(() -> {
                LendingPair.poll(pair.lender);
                return !pair.lender.isOverAeron();
            });
            assertNull(pair.peer.gone());
            assertEquals(LEASES, pair.peer.leases());
            liar.words.clear();
            LendingPair.await(() -> listened(liar) && liar.words.contains(Way.OVER));
            liar.held.forEach(SealedBuffer::close);
        }
    }

    @Test
    void whatHasComeAfterTheEndOfAeronMayBeHeardBeforeIt() throws Exception {
        try (LendingPair pair = new LendingPair(folder, SlabQuota.standard(), TERM)) {
            Liar liar = new Liar(pair);
            liar.borrower.tell(Way.OVER, 2);
            liar.borrower.tell(Way.ARRIVED, LEASES - 1);
            // the lender's thread has heard of both
            liar.borrower.tell(Way.SESSION, liar.returns.sessionId());
            liar.say(0, 0, 4, 0, 0, 0);
            LendingPair.await(() -> {
                LendingPair.poll(pair.lender);
                return !pair.lender.isOverAeron();
            });
            assertNull(pair.peer.gone());
            liar.held.forEach(SealedBuffer::close);
        }
    }

    private static boolean listened(Liar liar) {
        try {
            liar.borrower.listenOnce();
            return true;
        } catch (IOException ended) {
            throw new AssertionError(ended);
        }
    }

    /// A lender that speaks by hand; the borrower has five messages of its.
    private static final class Forger {

        final LendingPair pair;
        final ByteBuffer record = ByteBuffer.allocate(SlabPeer.RECORD_BYTES);

        Forger(LendingPair pair) throws IOException {
            this.pair = pair;
            // heard, and not answered: AeronLender has been replaced
            pair.peer.onWords((what, value) -> {});
            pair.peer.tell(Way.SESSION, pair.places.sessionId(), 0, record);
        }

        void lend(long number) throws IOException {
            record.clear();
            try (SealedBuffer message = pair.message(number, BYTES)) {
                assertTrue(pair.peer.lend(message, record));
            }
            record.flip();
        }

        void say(long number, long arrived, ByteBuffer place) {
            ByteBuffer said = ByteBuffer.allocate(Way.PLACE_BYTES)
                    .putLong(number)
                    .putLong(arrived)
                    .put(place.duplicate());
            say(said.array());
        }

        void say(byte... bytes) {
            LendingPair.await(() -> pair.places.offer(new UnsafeBuffer(bytes)) > 0);
        }

        /// The place of the sixth message, changed.
        ByteBuffer changed(int at, long by) {
            ByteBuffer other = ByteBuffer.allocate(SlabPeer.RECORD_BYTES).put(record.duplicate());
            return other.putLong(at, other.getLong(at) + by).flip();
        }
    }

    private interface Places {
        void say(Forger forger) throws Exception;
    }

    enum Forgery {
        NUMBER_TWICE("a place twice", forger -> forger.say(LEASES - 1, 0, forger.record)),
        NUMBER_BELOW_ZERO("a place twice", forger -> forger.say(-1, 0, forger.record)),
        SLAB_OF_NO_ONE("no such slab", forger -> forger.say(LEASES, 0, forger.changed(0, 1))),
        OFFSET_OUTSIDE("past the slab's end", forger -> forger.say(LEASES, 0, forger.changed(16, 1L << 40))),
        OFFSET_BELOW_ZERO("past the slab's end", forger -> forger.say(LEASES, 0, forger.changed(16, -(1L << 40)))),
        LENGTH_OUTSIDE("over the limit", forger -> forger.say(LEASES, 0, forger.changed(24, 1L << 40))),
        LENGTH_BELOW_ZERO("past the slab's end", forger -> forger.say(LEASES, 0, forger.changed(24, -1000))),
        NO_LEASE("of no lease", forger -> {
            ByteBuffer other = forger.changed(8, 0);
            forger.say(LEASES, 0, other.putInt(8, -3));
        }),
        FILE_OF_NO_ONE("no such", forger -> {
            ByteBuffer other = forger.changed(8, 0);
            forger.say(LEASES, 0, other.putInt(8, -6));
        }),
        MORE_RETURNS_THAN_THERE_WERE("more returns", forger -> forger.say(LEASES, 1L << 40, forger.record)),
        RETURNS_BELOW_ZERO("more returns", forger -> forger.say(LEASES, -1, forger.record)),
        SHORT("another length", forger -> forger.say(new byte[Way.PLACE_BYTES - 1])),
        LONG("another length", forger -> forger.say(new byte[Way.PLACE_BYTES + 1])),
        WORD_OF_NO_MEANING("of no meaning", forger -> forger.pair.peer.tell(99, 0, 0, forger.record)),
        TWICE_ON_THE_SOCKET("a place twice", forger -> forger.pair.peer.tell(Way.PLACE, 0, 0, forger.record)),
        OVER_WITH_TOO_MUCH("that there were not", forger -> forger.pair.peer.tell(Way.OVER, 99, 0, forger.record)),
        ARRIVED_TOO_MUCH("that there were not", forger -> forger.pair.peer.tell(Way.ARRIVED, 99, 0, forger.record)),
        MESSAGE_BESIDE("nothing of slabs", forger -> {
            try (SealedBuffer message = forger.pair.message(9, BYTES)) {
                forger.pair.peer.lend(message);
            }
        });

        private final String why;
        private final Places places;

        Forgery(String why, Places places) {
            this.why = why;
            this.places = places;
        }
    }

    @ParameterizedTest
    @EnumSource(Forgery.class)
    void aLenderThatLiesIsRefusedByName(Forgery forgery) throws Exception {
        try (LendingPair pair = new LendingPair(folder, SlabQuota.standard(), TERM)) {
            Forger forger = new Forger(pair);
            AeronBorrower borrower = pair.borrow();
            LendingPair.await(() -> {
                assertNull(LendingPair.none(borrower));
                return borrower.isOverAeron();
            });
            List<SealedBuffer> held = new ArrayList<>();
            for (int i = 0; i < LEASES; i++) {
                forger.lend(i);
                forger.say(i, 0, forger.record);
                LendingPair.await(() -> {
                    SealedBuffer message = LendingPair.none(borrower);
                    if (message != null) {
                        held.add(message);
                    }
                    return message != null;
                });
            }
            forger.lend(LEASES);
            forgery.places.say(forger);
            SealRefusedException refused = assertThrows(SealRefusedException.class, () -> {
                for (long end = System.nanoTime() + LendingPair.PATIENCE.toNanos(); System.nanoTime() < end; ) {
                    assertNull(borrower.poll());
                }
            });
            assertTrue(refused.getMessage().contains(forgery.why), refused.getMessage());
            assertThrows(EOFException.class, borrower::poll);
            for (int i = 0; i < LEASES; i++) {
                assertEquals(i, LendingPair.number(held.get(i)));
                held.get(i).close();
            }
            LendingPair.await(() -> pair.peer.leases() == 0 && pair.handles.open() == 0);
        }
    }

    /// What Aeron makes of a claim whose writer stood still for too long: padding.
    @Test
    void aPlaceThatBecamePaddingComesOverTheSocket() throws Exception {
        try (LendingPair pair = new LendingPair(folder, SlabQuota.standard(), TERM);
                AeronBorrower borrower = pair.borrow()) {
            pair.awaitAeron(borrower);
            assertTrue(pair.lend(0, BYTES));
            pair.next(borrower).close();
            BufferClaim claim = new BufferClaim();
            assertTrue(pair.places.tryClaim(Way.PLACE_BYTES, claim) > 0);
            claim.abort();
            for (int i = 1; i < 10; i++) {
                assertTrue(pair.lend(i, BYTES));
                try (SealedBuffer message = pair.next(borrower)) {
                    assertEquals(i, LendingPair.number(message));
                }
            }
            assertNotNull(pair.lender);
            assertTrue(pair.lender.isOverAeron(), "nothing was lost");
            pair.awaitNothingLent();
        }
    }

    @Test
    void aPlaceThatIsMissingComesOverTheSocket() throws Exception {
        try (LendingPair pair = new LendingPair(folder, SlabQuota.standard(), TERM);
                AeronBorrower borrower = pair.borrow()) {
            pair.awaitAeron(borrower);
            for (int i = 0; i < 5; i++) {
                assertTrue(pair.lend(i, BYTES));
            }
            // the borrower's image is behind the second of them: as if it had been padding
            assertEquals(0, take(pair, borrower));
            pair.placesAtBorrower.imageAtIndex(0).poll((log, offset, length, header) -> {}, 1);
            for (int i = 1; i < 5; i++) {
                assertEquals(i, take(pair, borrower));
            }
            assertEquals(false, borrower.isOverAeron());
            for (int i = 5; i < 2000; i++) {
                assertTrue(pair.lend(i, BYTES));
                assertEquals(i, take(pair, borrower));
            }
            pair.awaitNothingLent();
            assertNull(pair.peer.gone());
        }
    }

    private static long take(LendingPair pair, AeronBorrower borrower) {
        try (SealedBuffer message = pair.next(borrower)) {
            return LendingPair.number(message);
        }
    }
}
