// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.core.Settings;
import io.bulla.runtime.oob.internal.flow.Credit;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.runtime.oob.internal.session.Session.Answer;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// Two ends of a session, and what each hello and acknowledgement does to it.
class SessionTest {

    private static final long WINDOW = 1000;
    private static final int FRAGMENT = Sends.FRAGMENT;

    private final Sends sends = new Sends();
    private final AtomicLong names = new AtomicLong(100);
    private Session mine = session(7);
    private Session theirs = session(3);
    private final List<PendingSend> gone = new ArrayList<>();

    private Session session(int rank) {
        return session(rank, null);
    }

    private Session session(int rank, NodeCut cut) {
        Environment environment = new Environment(() -> sends.now, () -> names.addAndGet(2), Thread::new);
        return new Session(new Settings(
                rank,
                9,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                Map.of(),
                1 << 20,
                FRAGMENT,
                0,
                0,
                0,
                0,
                0,
                WINDOW,
                0,
                0,
                0,
                0,
                2,
                4,
                null,
                cut,
                null,
                null,
                environment));
    }

    private void take(PendingSend send) {
        // an end for a loop that has none
        assertTrue(gone.size() < 100, "taken out again and again: " + send);
        gone.add(send);
    }

    private PendingSend written(Lane lane, PendingSend send) {
        lane.add(send);
        lane.begin(send);
        lane.written(send);
        return send;
    }

    private void meet() {
        assertEquals(Answer.GOES_ON, theirs.greet(mine.hello(1)));
        assertEquals(Answer.GOES_ON, mine.greet(theirs.hello(1)));
    }

    @Test
    void helloSaysWhatTheNodeIs() {
        Hello hello = mine.hello(55);
        assertEquals(2, hello.oldest());
        assertEquals(4, hello.newest());
        assertEquals(7, hello.rank());
        assertEquals(9, hello.nodes());
        assertEquals(1, hello.number());
        assertEquals(mine.mine(), hello.session());
        assertEquals(0, hello.known());
        assertEquals(55, hello.life());
        assertEquals(WINDOW, hello.window());
        assertEquals(1 << 20, hello.limit());
        assertEquals(Hello.SIGNED_BROADCASTS | Hello.CHECKPOINTS, hello.features());
        assertEquals(2, mine.hello(55).number());
        meet();
        assertEquals(theirs.mine(), mine.theirs());
        assertEquals(mine.mine(), theirs.theirs());
        assertEquals(theirs.mine(), mine.hello(1).known());
    }

    @Test
    void helloSaysWhatIsExpectedInEachLane() throws IOException {
        for (int lane = 0; lane < Lane.COUNT; lane++) {
            for (int i = 0; i <= lane; i++) {
                mine.reassembler(lane).pass();
            }
        }
        Hello hello = mine.hello(1);
        assertEquals(List.of(1L, 2L, 3L), List.of(hello.small(), hello.bulk(), hello.control()));
        // a node that has sent nothing
        assertThrows(IOException.class, () -> theirs.checkExpected(hello));
    }

    @Test
    void sessionGoesOnWithALaterHelloAndNotWithAnEarlier() {
        Hello early = theirs.hello(1);
        Hello late = theirs.hello(1);
        assertEquals(Answer.GOES_ON, mine.greet(late));
        assertEquals(Answer.LATE, mine.greet(early));
        assertEquals(Answer.LATE, mine.greet(late));
        assertEquals(Answer.GOES_ON, mine.greet(theirs.hello(1)));
    }

    /// It expects what was acknowledged since: that is its age, and no other session.
    @Test
    void lateHelloOfThisSessionEndsNothing() {
        meet();
        Hello late = theirs.hello(1);
        assertEquals(Answer.GOES_ON, mine.greet(theirs.hello(1)));
        written(mine.small, sends.send(1, 1));
        mine.acknowledge(1, 0, 0, this::take);
        assertEquals(Answer.LATE, mine.greet(late));
    }

    @Test
    void hellosOfTheNextSessionAreCountedFromTheirOwnFirst() {
        meet();
        assertEquals(Answer.GOES_ON, mine.greet(theirs.hello(1)));
        mine.end();
        Session next = session(3);
        assertEquals(Answer.GOES_ON, mine.greet(next.hello(1)));
        assertEquals(next.mine(), mine.theirs());
    }

    @Test
    void peerWithANewSessionIsSeen() {
        meet();
        Session another = session(3);
        assertEquals(Answer.BEGAN_ANEW, mine.greet(another.hello(1)));
        assertEquals(theirs.mine(), mine.theirs(), "only the end changes it");
        mine.end();
        assertEquals(0, mine.theirs());
        assertEquals(Answer.GOES_ON, mine.greet(another.hello(1)));
    }

    @Test
    void peerThatKnowsAnOldSessionIsToBeginAnew() {
        meet();
        long before = mine.mine();
        mine.end();
        assertNotEquals(before, mine.mine());
        assertEquals(Answer.KNOWS_AN_OLD_ONE, mine.greet(theirs.hello(1)));
        assertEquals(0, mine.theirs());
    }

    @Test
    void firstHelloThatExpectsWhatWasNotSentIsOfAnOldSession() {
        theirs.reassembler(Lane.CONTROL).pass();
        assertEquals(Answer.KNOWS_AN_OLD_ONE, mine.greet(theirs.hello(1)));
        assertEquals(0, mine.theirs());
    }

    @Test
    void windowOfTheHelloIsTheCredit() {
        meet();
        for (Lane lane : List.of(mine.small, mine.bulk)) {
            written(lane, sends.send(1, 400));
            lane.add(sends.send(1, 400));
            assertTrue(mine.isBlocked());
            lane.acknowledge(1, this::take);
            lane.abandonAll(this::take);
        }
        assertFalse(mine.isBlocked());
    }

    @Test
    void acknowledgementSaysWhatIsTakenInAndGranted() throws IOException {
        meet();
        theirs.reassembler(Lane.SMALL).pass();
        theirs.credit(Lane.SMALL).arrived(36);
        theirs.credit(Lane.SMALL).consume(Credit.charge(36));
        theirs.reassembler(Lane.BULK).pass();
        theirs.reassembler(Lane.BULK).pass();
        theirs.credit(Lane.BULK).arrived(136);
        theirs.credit(Lane.BULK).consume(Credit.charge(136));
        theirs.reassembler(Lane.CONTROL).pass();
        theirs.credit(Lane.BULK).hold(3);
        Frame ack = theirs.acknowledgement();
        assertEquals(Frame.Kind.ACK, ack.kind());
        assertEquals(3, ack.origin());
        assertEquals(1, ack.sequence());
        assertEquals(2, ack.offset());
        assertEquals(1, ack.number());
        assertEquals(WINDOW + 100, ack.total());
        assertEquals(WINDOW + 200, ack.session());
        assertEquals(0b1111_1110 << 8 | 0b1111_0110 << 16, ack.tag());
        IOException refused = assertThrows(IOException.class, () -> mine.granted(ack));
        assertEquals("credit for what was not sent: small=1100 bulk=1200", refused.getMessage());
    }

    @Test
    void depthsOfWhichNothingIsHeldMayGoInTheirLane() throws IOException {
        for (int code = 0; code < Lane.CONTROL; code++) {
            Lane lane = mine.lane(code);
            meet();
            written(lane, sends.send(Frame.Kind.BROADCAST, 1, 2000, 0));
            for (int depth = 1; depth < 8; depth++) {
                lane.add(sends.deep(depth));
            }
            // all but depth 3 and 5 are held there
            for (int depth : new int[] {1, 2, 4, 6, 7}) {
                theirs.credit(code).hold(depth);
                theirs.credit(1 - code).hold(depth == 7 ? 3 : depth);
            }
            mine.granted(theirs.acknowledgement());
            assertEquals(3, Objects.requireNonNull(lane.head(FRAGMENT)).depth);
            lane.remove(lane.head(FRAGMENT));
            assertEquals(5, Objects.requireNonNull(lane.head(FRAGMENT)).depth);
            lane.remove(lane.head(FRAGMENT));
            assertNull(lane.head(FRAGMENT));
            mine = session(7);
            theirs = session(3);
        }
    }

    @Test
    void whatThePeerHoldsIsNotKnownOfANewConnection() {
        meet();
        for (Lane lane : List.of(mine.small, mine.bulk)) {
            written(lane, sends.send(Frame.Kind.BROADCAST, 1, 2000, 0));
            PendingSend deep = sends.deep(2);
            lane.add(deep);
            assertSame(deep, lane.head(FRAGMENT));
        }
        assertEquals(Answer.GOES_ON, mine.greet(theirs.hello(1)));
        assertNull(mine.small.head(FRAGMENT));
        assertNull(mine.bulk.head(FRAGMENT));
    }

    @Test
    void grantIsMoreOrIsNot() throws IOException {
        meet();
        written(mine.small, sends.send(1, 36));
        written(mine.bulk, sends.send(1, 36));
        assertFalse(mine.granted(theirs.acknowledgement()));
        theirs.credit(Lane.SMALL).arrived(36);
        theirs.credit(Lane.SMALL).consume(Credit.charge(36));
        assertTrue(mine.granted(theirs.acknowledgement()));
        assertFalse(mine.granted(theirs.acknowledgement()));
        theirs.credit(Lane.BULK).arrived(36);
        theirs.credit(Lane.BULK).consume(Credit.charge(36));
        assertTrue(mine.granted(theirs.acknowledgement()));
        // more than was sent in one lane alone
        theirs.credit(Lane.BULK).consume(1);
        IOException refused = assertThrows(IOException.class, () -> mine.granted(theirs.acknowledgement()));
        assertEquals("credit for what was not sent: small=1100 bulk=1101", refused.getMessage());
    }

    @Test
    void sideThatWaitsForCreditSaysSo() {
        meet();
        assertEquals(0, mine.acknowledgement().tag() & 1);
        written(mine.bulk, sends.send(1, 800));
        mine.bulk.add(sends.send(1, 800));
        assertEquals(1, mine.acknowledgement().tag() & 1);
        assertFalse(theirs.want(true));
        theirs.credit(Lane.SMALL).consume(1);
        assertTrue(theirs.want(true));
        theirs.acknowledgement();
        assertFalse(theirs.want(true));
        theirs.credit(Lane.BULK).consume(1);
        assertTrue(theirs.want(true));
        assertFalse(theirs.want(false));
    }

    @Test
    void eachLaneIsAcknowledged() throws IOException {
        PendingSend small = written(mine.small, sends.send(1, 1));
        PendingSend bulk = written(mine.bulk, sends.send(1, 1));
        PendingSend confirmation = written(mine.control, sends.send(Frame.Kind.CONFIRM, 0, 1, 0));
        assertEquals(3, mine.queued());
        mine.checkExpected(1, 1, 1);
        for (long[] wrong : new long[][] {{2, 1, 1}, {1, 2, 1}, {1, 1, 2}}) {
            IOException refused =
                    assertThrows(IOException.class, () -> mine.checkExpected(wrong[0], wrong[1], wrong[2]));
            assertEquals(
                    "peer expects what was not sent, or was acknowledged: small=" + wrong[0] + " bulk=" + wrong[1]
                            + " control=" + wrong[2] + " sentSmall=1 sentBulk=1 sentControl=1",
                    refused.getMessage());
        }
        mine.acknowledge(1, 1, 1, this::take);
        assertEquals(List.of(small, bulk, confirmation), gone);
        assertEquals(0, mine.queued());
        assertThrows(IOException.class, () -> mine.checkExpected(0, 1, 1));
    }

    @Test
    void laneIsTheSmallOneUnlessTheTagIsBulk() {
        assertSame(mine.small, mine.laneOf(sends.send(4, 100), 100));
        PendingSend long4 = sends.send(4, 101);
        assertSame(mine.bulk, mine.laneOf(long4, 100));
        mine.bulk.add(long4);
        assertSame(mine.bulk, mine.laneOf(sends.send(4, 1), 100));
        assertSame(mine.small, mine.laneOf(sends.send(5, 1), 100));
        assertSame(mine.control, mine.laneOf(sends.send(Frame.Kind.CONFIRM, 4, 1 << 20, 0), 100));
        PendingSend landing =
                new PendingSend(Frame.Kind.BROADCAST, 6, io.bulla.runtime.oob.SendOptions.DEFAULT, 1, null, sends) {
                    @Override
                    public boolean isLanding() {
                        return true;
                    }
                };
        assertSame(mine.bulk, mine.laneOf(landing, 100));
        assertSame(mine.lane(Lane.SMALL), mine.small);
        assertSame(mine.lane(Lane.BULK), mine.bulk);
        assertSame(mine.lane(Lane.CONTROL), mine.control);
    }

    @Test
    void heldSessionSaysWhatItExpectedAtTheCutAndGivesNoNumbers() {
        meet();
        mine.reassembler(Lane.SMALL).pass();
        mine.hold();
        mine.reassembler(Lane.SMALL).pass();
        mine.hold();
        assertEquals(1, mine.hello(1).small());
        assertEquals(1, mine.acknowledgement().sequence());
        PendingSend waits = sends.send(1, 1);
        for (int lane = 0; lane < Lane.COUNT; lane++) {
            mine.lane(lane).add(sends.send(1, 1));
            assertNull(mine.lane(lane).head(FRAGMENT));
        }
        mine.goOn();
        assertEquals(2, mine.hello(1).small());
        mine.small.add(waits);
        for (int lane = 0; lane < Lane.COUNT; lane++) {
            assertTrue(mine.lane(lane).head(FRAGMENT) != null);
        }
        mine.hold();
        mine.end();
        assertEquals(0, mine.hello(1).small());
        assertTrue(mine.small.head(FRAGMENT) != null);
    }

    @Test
    void interruptedSessionWritesAgainAndDropsParts() throws IOException {
        PendingSend small = written(mine.small, sends.send(1, 1));
        PendingSend confirmation = written(mine.control, sends.send(Frame.Kind.CONFIRM, 0, 1, 0));
        Frame part = new Frame(Frame.Kind.DIRECT, 1, 3, Optional.empty(), false, 0, 0, 4, 0, 0, 2, 1);
        mine.reassembler(Lane.BULK).advance(part);
        mine.interrupt();
        assertSame(small, mine.small.head(FRAGMENT));
        assertSame(confirmation, mine.control.head(FRAGMENT));
        assertEquals(0, mine.reassembler(Lane.BULK).landed());
        mine.small.begin(small);
        mine.control.begin(confirmation);
        assertEquals(2, mine.resends());
    }

    @Test
    void endedSessionExpectsAndGrantsAsANewOne() throws IOException {
        meet();
        mine.reassembler(Lane.BULK).pass();
        mine.credit(Lane.BULK).arrived(600);
        assertEquals(664, mine.held());
        assertTrue(mine.isLow());
        mine.end();
        assertEquals(0, mine.held());
        assertFalse(mine.isLow());
        assertEquals(0, mine.hello(1).bulk());
        mine.credit(Lane.SMALL).arrived(600);
        assertTrue(mine.isLow());
        assertEquals(664, mine.held());
    }

    @Test
    void abandonedSessionGivesUpWhatWasBegunOrAll() {
        PendingSend begun = written(mine.small, sends.send(1, 1));
        PendingSend confirmation = written(mine.control, sends.send(Frame.Kind.CONFIRM, 0, 1, 0));
        PendingSend fresh = sends.send(1, 1);
        mine.bulk.add(fresh);
        mine.abandon(false, this::take);
        assertEquals(List.of(begun, confirmation), gone);
        assertEquals(1, mine.queued());
        mine.abandon(true, this::take);
        assertEquals(List.of(begun, confirmation, fresh), gone);
        assertEquals(0, mine.queued());
    }

    @Test
    void onlyARestoredSessionIsChargedAnew() {
        meet();
        written(mine.small, sends.send(1, 600));
        long limit = mine.small.allowance.limit();
        assertTrue(mine.small.allowance.grant(limit + 600, 0));
        mine.chargeRestored();
        assertEquals(limit + 600, mine.small.allowance.limit(), "what was granted stays so");
    }

    @Test
    void sessionWithoutABegunMessageHasNoHeadsToFail() {
        mine.small.add(sends.send(1, 1));
        mine.failHeads(0, this::take);
        assertEquals(List.of(), gone);
    }

    @Test
    void headsThatWereBegunTooOftenFail() {
        PendingSend small = sends.send(1, 1);
        PendingSend bulk = sends.send(2, 1);
        PendingSend confirmation = sends.send(Frame.Kind.CONFIRM, 0, 1, 0);
        assertFalse(mine.isConfirming(0));
        mine.small.add(small);
        mine.bulk.add(bulk);
        mine.control.add(confirmation);
        for (int i = 0; i < 3; i++) {
            mine.small.begin(small);
            mine.bulk.begin(bulk);
            mine.control.begin(confirmation);
        }
        mine.failHeads(4, this::take);
        assertEquals(List.of(), gone);
        assertFalse(mine.isConfirming(4));
        assertTrue(mine.isConfirming(3));
        bulk.skipped = true;
        mine.failHeads(3, this::take);
        assertEquals(List.of(small), gone);
        bulk.skipped = false;
        mine.failHeads(3, this::take);
        assertEquals(List.of(small, small, bulk), gone);
    }

    @Test
    void firstIsOfTheSmallLaneThenOfTheBulkOne() {
        assertNull(mine.first(send -> true));
        PendingSend bulk = sends.send(1, 1);
        mine.bulk.add(bulk);
        assertSame(bulk, mine.first(send -> true));
        PendingSend small = sends.send(1, 1);
        mine.small.add(small);
        assertSame(small, mine.first(send -> true));
        mine.control.add(sends.send(Frame.Kind.CONFIRM, 0, 1, 0));
        assertNull(mine.first(send -> send.kind == Frame.Kind.CONFIRM));
    }

    @Test
    void oldestAndDuplicatesAreOfAllLanes() throws IOException {
        assertEquals(Optional.empty(), mine.oldest());
        mine.small.add(sends.send(1, 1));
        sends.now += 50;
        mine.bulk.add(sends.send(1, 1));
        sends.now += 7;
        assertEquals(Optional.of(Duration.ofNanos(57)), mine.oldest());
        assertEquals(0, mine.duplicates());
        for (int lane = 0; lane < Lane.COUNT; lane++) {
            mine.reassembler(lane).pass();
            Frame again = new Frame(Frame.Kind.DIRECT, 1, 3, Optional.empty(), false, 0, 0, 4, 0, 0, 4, lane);
            assertTrue(mine.reassembler(lane).isDuplicate(again));
        }
        assertEquals(3, mine.duplicates());
    }

    private static NodeCut.Outgoing outgoing(PendingSend send) {
        return new NodeCut.Outgoing(
                send.order, send.sequence, send.tag, Optional.empty(), send.bytes, Optional.empty());
    }

    @Test
    void twoRestoredEndsGoOnWhereTheirCutsWere() throws IOException {
        written(mine.small, sends.send(1, 36));
        written(mine.bulk, sends.send(2, 36));
        theirs.reassembler(Lane.SMALL).pass();
        theirs.reassembler(Lane.BULK).pass();
        List<NodeCut.OfLane> cut = mine.lanes(SessionTest::outgoing);
        assertEquals(List.of(1L, 1L, 0L), cut.stream().map(NodeCut.OfLane::next).toList());
        List<NodeCut.OfLane> cutOfTheirs = theirs.lanes(SessionTest::outgoing);
        assertEquals(
                List.of(1L, 1L, 0L),
                cutOfTheirs.stream().map(NodeCut.OfLane::expected).toList());
        PendingSend again = sends.send(1, 36);
        again.sequence = RestoredNumbers.of(0);
        PendingSend bulkAgain = sends.send(2, 36);
        bulkAgain.sequence = RestoredNumbers.of(0);
        Session first = session(7);
        Session second = session(3);
        first.restore(cut, List.of(List.of(again), List.of(bulkAgain), List.of()));
        second.restore(cutOfTheirs, List.of(List.of(), List.of(), List.of()));
        assertTrue(first.isRestored());
        assertEquals(Answer.GOES_ON, first.greet(second.hello(1)));
        assertTrue(first.isRestored(), "until what it has is charged");
        assertEquals(0, first.small.allowance.limit() - WINDOW);
        first.checkExpected(second.hello(1));
        first.chargeRestored();
        assertFalse(first.isRestored());
        // what is begun may be granted, once
        second.credit(Lane.SMALL).consume(Credit.charge(36));
        assertTrue(first.granted(second.acknowledgement()));
        second.credit(Lane.BULK).consume(Credit.charge(36));
        assertTrue(first.granted(second.acknowledgement()));
        first.small.begin(again);
        first.chargeRestored();
        second.credit(Lane.SMALL).consume(1);
        assertThrows(IOException.class, () -> first.granted(second.acknowledgement()));
    }

    @Test
    void peerThatIsNotInTheCutGoesOnFromItTooButNotWithAnother() {
        NodeCut cut = new NodeCut(7, 9, List.of(), List.of(), List.of());
        Session first = session(7, cut);
        assertTrue(first.isRestored());
        Hello hello = first.hello(1);
        long zero = RestoredNumbers.of(0);
        assertEquals(List.of(zero, zero, zero), List.of(hello.small(), hello.bulk(), hello.control()));
        assertEquals(Answer.BEGAN_ANEW, first.greet(theirs.hello(1)));
        Session second = session(3, cut);
        assertEquals(Answer.GOES_ON, second.greet(hello));
        for (int lane = 0; lane < Lane.COUNT; lane++) {
            assertEquals(zero, second.lane(lane).next());
        }
    }

    @Test
    void restoredEndDoesNotGoOnWithOneThatIsNot() {
        Session restored = session(7);
        restored.restore(mine.lanes(SessionTest::outgoing), List.of(List.of(), List.of(), List.of()));
        assertEquals(Answer.BEGAN_ANEW, restored.greet(theirs.hello(1)));
        assertEquals(Answer.KNOWS_AN_OLD_ONE, theirs.greet(restored.hello(1)));
        restored.end();
        assertFalse(restored.isRestored());
    }
}
