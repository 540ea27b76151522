// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.flow.Allowance;
import io.bulla.runtime.oob.internal.flow.Credit;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// A lane from the queue to the acknowledgement, without a node.
class LaneTest {

    private static final int FRAGMENT = Sends.FRAGMENT;

    private final Sends sends = new Sends();
    private final Lane lane = new Lane(Lane.SMALL);
    private final Lane bulk = new Lane(Lane.BULK);
    private final List<PendingSend> gone = new ArrayList<>();

    private void take(PendingSend send) {
        // an end for a loop that has none
        assertTrue(gone.size() < 100, "taken out again and again: " + send);
        gone.add(send);
    }

    private PendingSend added(Lane to, PendingSend send) {
        to.add(send);
        return send;
    }

    private PendingSend begun(Lane to, PendingSend send) {
        to.add(send);
        assertSame(send, to.head(FRAGMENT));
        to.begin(send);
        return send;
    }

    private PendingSend written(Lane to, PendingSend send) {
        begun(to, send);
        to.written(send);
        return send;
    }

    @Test
    void messagesGetTheirNumbersAsTheyBegin() {
        PendingSend first = added(lane, sends.send(1, 10));
        PendingSend second = added(lane, sends.send(1, 10));
        assertEquals(-1, first.sequence);
        assertEquals(Lane.SMALL, first.lane);
        assertEquals(2, lane.size());
        assertEquals(2, lane.waiting());
        assertSame(first, lane.head(FRAGMENT));
        lane.begin(first);
        assertEquals(0, first.sequence);
        assertEquals(1, lane.next());
        assertSame(first, lane.head(FRAGMENT), "until it is written");
        lane.written(first);
        assertEquals(1, lane.waiting());
        assertSame(second, lane.head(FRAGMENT));
        lane.begin(second);
        assertEquals(1, second.sequence);
        lane.written(second);
        assertNull(lane.head(FRAGMENT));
        assertEquals(2, lane.size());
        assertEquals(0, lane.waiting());
        assertEquals(0, lane.resends());
    }

    @Test
    void whatIsAcknowledgedGoesInOrder() {
        PendingSend first = written(lane, sends.send(1, 10));
        PendingSend second = written(lane, sends.send(1, 10));
        PendingSend third = begun(lane, sends.send(1, 10));
        assertTrue(lane.accepts(0));
        assertTrue(lane.accepts(3));
        assertFalse(lane.accepts(4));
        lane.acknowledge(1, this::take);
        assertEquals(List.of(first), gone);
        assertEquals(PendingSend.NO_LANE, first.lane);
        assertFalse(lane.accepts(0));
        assertTrue(lane.accepts(1));
        lane.rewind();
        // what waits to be written again may be acknowledged
        lane.acknowledge(3, this::take);
        assertEquals(List.of(first, second, third), gone);
        assertEquals(0, lane.size());
    }

    @Test
    void rewoundMessagesComeAgainFromByteZeroInTheirOrder() {
        PendingSend first = written(lane, sends.send(1, 10));
        PendingSend second = begun(lane, sends.send(1, 10));
        second.offset = 5;
        first.offset = 10;
        PendingSend fresh = added(lane, sends.send(1, 10));
        lane.rewind();
        assertSame(first, lane.head(FRAGMENT));
        assertEquals(0, first.offset);
        assertEquals(0, second.offset);
        assertEquals(0, first.sequence);
        lane.begin(first);
        assertEquals(2, first.attempts);
        assertEquals(1, lane.resends());
        lane.written(first);
        assertSame(second, lane.head(FRAGMENT));
        lane.begin(second);
        lane.written(second);
        assertEquals(2, lane.resends());
        assertSame(fresh, lane.head(FRAGMENT));
        // a second time, too
        lane.rewind();
        assertSame(first, lane.head(FRAGMENT));
        assertSame(first, lane.numbered(0));
        assertSame(second, lane.numbered(1));
        lane.remove(first);
        assertSame(second, lane.head(FRAGMENT));
    }

    @Test
    void numberedFindsWhatIsWrittenAndWhatIsBegun() {
        PendingSend first = written(lane, sends.send(1, 10));
        PendingSend second = begun(lane, sends.send(1, 10));
        added(lane, sends.send(1, 10));
        assertSame(first, lane.numbered(0));
        assertSame(second, lane.numbered(1));
        assertNull(lane.numbered(2));
        assertNull(lane.numbered(-1));
    }

    @Test
    void messageWithoutCreditWaits() {
        lane.allowance.open(1000);
        PendingSend large = begun(lane, sends.send(1, 400));
        lane.written(large);
        PendingSend next = added(lane, sends.send(1, 400));
        assertNull(lane.head(FRAGMENT));
        assertTrue(lane.isBlocked());
        assertTrue(lane.allowance.grant(1000 + Credit.charge(400), 0));
        assertFalse(lane.isBlocked());
        assertSame(next, lane.head(FRAGMENT));
    }

    @Test
    void whatIsRestoredWithoutCreditIsNotBlocked() {
        lane.allowance.open(1000);
        begun(lane, sends.send(1, 400));
        added(lane, sends.send(1, 400));
        assertFalse(lane.isBlocked(), "the one that is being written comes first");
        assertFalse(new Lane(Lane.SMALL).isBlocked(), "nothing is there");
    }

    @Test
    void confirmationNeedsNoCredit() {
        Lane control = new Lane(Lane.CONTROL);
        control.allowance.open(100);
        written(control, sends.send(Frame.Kind.CONFIRM, 0, 400, 0));
        PendingSend next = added(control, sends.send(Frame.Kind.CONFIRM, 0, 400, 0));
        assertFalse(control.isBlocked());
        assertSame(next, control.head(FRAGMENT));
    }

    @Test
    void deeperOneGoesFirstOnlyIfTheOtherHasNoCredit() {
        PendingSend shallow = added(lane, sends.deep(0));
        PendingSend deep = added(lane, sends.deep(3));
        assertSame(shallow, lane.head(FRAGMENT), "the older one");
        Lane another = new Lane(Lane.SMALL);
        another.allowance.open(300);
        written(another, sends.send(1, 100));
        added(another, sends.send(1, 100));
        PendingSend deeper = added(another, sends.deep(3));
        assertSame(deeper, another.head(FRAGMENT));
        assertTrue(another.isBlocked());
        lane.remove(shallow);
        assertSame(deep, lane.head(FRAGMENT));
        lane.remove(deep);
        assertNull(lane.head(FRAGMENT));
        assertEquals(Long.MAX_VALUE, lane.firstOrder(3));
    }

    @Test
    void oneThatIsNotReadyLetsOthersGo() {
        PendingSend landing = added(lane, sends.notReady(2));
        PendingSend other = added(lane, sends.deep(1));
        assertSame(other, lane.head(FRAGMENT));
        lane.begin(landing);
        assertNull(lane.head(FRAGMENT), "it is being written");
    }

    @Test
    void messageIsNotWrittenBeforeAnOlderOneOfTheOtherLane() {
        PendingSend older = added(bulk, sends.send(1, 1 << 20));
        PendingSend newer = added(lane, sends.send(1, 10));
        assertNull(lane.headBehind(bulk, FRAGMENT));
        assertSame(newer, lane.head(FRAGMENT));
        assertSame(older, bulk.headBehind(lane, FRAGMENT));
        PendingSend deep = added(lane, sends.deep(2));
        assertSame(deep, lane.headBehind(bulk, FRAGMENT), "of another depth");
        lane.remove(deep);
        bulk.begin(older);
        assertNull(lane.headBehind(bulk, FRAGMENT), "what is begun comes before all");
        bulk.written(older);
        assertSame(newer, lane.headBehind(bulk, FRAGMENT));
        // one of which some bytes are out goes on
        lane.begin(newer);
        newer.offset = 3;
        added(bulk, older(sends.send(1, 1 << 20)));
        assertSame(newer, lane.headBehind(bulk, FRAGMENT));
        newer.offset = 0;
        assertNull(lane.headBehind(bulk, FRAGMENT));
    }

    private static PendingSend older(PendingSend send) {
        send.order = -1;
        return send;
    }

    @Test
    void firstOrderIsOfTheDepth() {
        PendingSend shallow = added(lane, sends.deep(0));
        PendingSend deep = added(lane, sends.deep(1));
        assertEquals(shallow.order, lane.firstOrder(0));
        assertEquals(deep.order, lane.firstOrder(1));
        assertEquals(Long.MAX_VALUE, lane.firstOrder(2));
        lane.begin(shallow);
        assertEquals(Long.MIN_VALUE, lane.firstOrder(2));
    }

    @Test
    void heldLaneGivesNoNumber() {
        lane.allowance.open(Credit.charge(10));
        PendingSend begun = begun(lane, sends.send(1, 10));
        PendingSend fresh = added(lane, sends.send(1, 10));
        lane.hold(true);
        assertSame(begun, lane.head(FRAGMENT));
        lane.written(begun);
        assertFalse(lane.isBlocked(), "it waits for a cut, and asks for no credit");
        lane.hold(false);
        assertTrue(lane.isBlocked());
        lane.hold(true);
        assertTrue(lane.allowance.grant(2 * Credit.charge(10), 0));
        assertNull(lane.head(FRAGMENT));
        lane.hold(false);
        assertSame(fresh, lane.head(FRAGMENT));
    }

    @Test
    void bulkLaneKnowsItsTags() {
        PendingSend first = added(bulk, sends.send(4, 10));
        PendingSend second = added(bulk, sends.send(4, 10));
        assertTrue(bulk.holds(4));
        assertFalse(bulk.holds(5));
        bulk.remove(first);
        assertTrue(bulk.holds(4));
        bulk.remove(second);
        assertFalse(bulk.holds(4));
        added(lane, sends.send(4, 10));
        assertFalse(lane.holds(4), "of the bulk lane alone");
    }

    @Test
    void whatStandsBehindIsSeen() {
        PendingSend first = begun(lane, sends.send(1, 10));
        assertFalse(lane.isWaitedFor());
        PendingSend second = added(lane, sends.send(1, 10));
        assertTrue(lane.isWaitedFor());
        lane.begin(second);
        assertTrue(lane.isWaitedFor());
        lane.written(first);
        assertFalse(lane.isWaitedFor());
    }

    @Test
    void oldestIsTheOneThatIsOnItsWayLongest() {
        assertNull(lane.oldest());
        PendingSend first = added(lane, sends.deep(2));
        assertSame(first, lane.oldest());
        lane.begin(first);
        PendingSend second = added(lane, sends.deep(0));
        assertSame(first, lane.oldest());
        lane.written(first);
        lane.begin(second);
        assertSame(first, lane.oldest());
        lane.acknowledge(1, this::take);
        assertSame(second, lane.oldest());
        lane.remove(second);
        PendingSend third = added(lane, sends.deep(1));
        added(lane, sends.deep(4));
        assertSame(third, lane.oldest());
    }

    /// What is deeper overtakes what waits for credit, and is younger all the same.
    @Test
    void oldestIsFoundBehindWhatHasOvertakenIt() {
        PendingSend old = added(lane, sends.deep(0));
        PendingSend young = added(lane, sends.deep(1));
        assertSame(old, lane.oldest());
        lane.begin(young);
        assertSame(old, lane.oldest());
        lane.written(young);
        assertSame(old, lane.oldest());
        PendingSend deep = added(lane, sends.deep(3));
        lane.begin(old);
        lane.written(old);
        lane.acknowledge(2, this::take);
        added(lane, sends.deep(0));
        assertSame(deep, lane.oldest());
    }

    @Test
    void numbersThatAreNotOnTheirWayAreNotLookedFor() {
        PendingSend first = written(lane, sends.send(1, 10));
        PendingSend second = written(lane, sends.send(2, 10));
        assertSame(first, lane.numbered(0));
        assertSame(second, lane.numbered(1));
        for (long none : new long[] {-1, 2, Long.MAX_VALUE, Long.MIN_VALUE}) {
            assertNull(lane.numbered(none));
        }
    }

    @Test
    void firstWaitingIsNotSkippedAndNotWritten() {
        PendingSend sent = written(lane, sends.send(1, 10));
        PendingSend skipped = begun(lane, sends.send(2, 10));
        skipped.skipped = true;
        PendingSend deep = added(lane, sends.deep(5));
        PendingSend fresh = added(lane, sends.deep(1));
        assertSame(fresh, lane.firstWaiting(send -> true));
        assertSame(deep, lane.firstWaiting(send -> send.depth == 5));
        assertNull(lane.firstWaiting(send -> send == sent || send == skipped));
        skipped.skipped = false;
        assertSame(skipped, lane.firstWaiting(send -> true));
    }

    @Test
    void endOfASessionTakesOutWhatWasBegun() {
        lane.allowance.open(1000);
        written(lane, sends.send(1, 10));
        lane.acknowledge(1, acknowledged -> {});
        PendingSend first = written(lane, sends.send(1, 10));
        PendingSend second = begun(lane, sends.send(1, 10));
        PendingSend fresh = added(lane, sends.send(1, 900));
        lane.abandon(this::take);
        assertEquals(List.of(first, second), gone);
        assertEquals(0, lane.next());
        assertTrue(lane.accepts(0));
        assertFalse(lane.accepts(1));
        // all credit is there again
        assertSame(fresh, lane.head(FRAGMENT));
        lane.begin(fresh);
        assertEquals(0, fresh.sequence);
    }

    @Test
    void endOfAPeerTakesOutEverything() {
        PendingSend first = written(lane, sends.send(1, 10));
        PendingSend deep = added(lane, sends.deep(6));
        PendingSend fresh = added(lane, sends.deep(2));
        PendingSend next = added(lane, sends.deep(2));
        lane.abandonAll(this::take);
        assertEquals(List.of(first, fresh, next, deep), gone);
        assertEquals(0, lane.size());
        assertNull(lane.head(FRAGMENT));
        gone.forEach(each -> assertEquals(PendingSend.NO_LANE, each.lane));
    }

    @Test
    void acknowledgedOneMakesRoomForTheNextOfItsDepth() {
        lane.allowance.open(2 * Credit.HEADER);
        PendingSend deep = written(lane, sends.deep(3));
        PendingSend filler = written(lane, sends.send(Frame.Kind.BROADCAST, 1, 1 << 20, 4));
        PendingSend next = added(lane, sends.deep(3));
        assertNull(lane.head(FRAGMENT), "one of its depth is on its way");
        lane.acknowledge(1, this::take);
        assertEquals(List.of(deep), gone);
        assertSame(next, lane.head(FRAGMENT));
        assertTrue(lane.isWaitedFor());
        assertSame(filler, lane.numbered(1));
        assertTrue(Allowance.CLASSES > 4);
    }

    private static NodeCut.Outgoing outgoing(PendingSend send) {
        return new NodeCut.Outgoing(
                send.order, send.sequence, send.tag, Optional.empty(), send.bytes, Optional.empty());
    }

    @Test
    void cutHasTheNumberedOnesInTheirOrderThenTheOthersInThatOfTheQueue() {
        PendingSend first = written(lane, sends.send(1, 10));
        PendingSend second = begun(lane, sends.send(2, 20));
        PendingSend third = sends.send(Frame.Kind.DIRECT, 3, 30, 4);
        PendingSend fourth = sends.send(Frame.Kind.DIRECT, 4, 40, 0);
        added(lane, fourth);
        added(lane, third);
        added(lane, sends.deep(1));
        NodeCut.OfLane cut = lane.cut(9, LaneTest::outgoing);
        assertEquals(2, cut.next());
        assertEquals(0, cut.acknowledged());
        assertEquals(9, cut.expected());
        assertEquals(
                List.of(first, second, third, fourth).stream()
                        .map(LaneTest::outgoing)
                        .toList(),
                cut.outgoing());
    }

    @Test
    void numberZeroIsANumber() {
        PendingSend zero = sends.send(7, 10);
        zero.sequence = 0;
        lane.restore(1, 0, List.of(zero));
        assertSame(zero, lane.head(FRAGMENT));
        assertEquals(Long.MIN_VALUE, lane.firstOrder(0), "it stands with those that are begun");
        lane.remove(zero);
        assertEquals(0, lane.size());
        assertNull(lane.head(FRAGMENT));
    }

    @Test
    void restoredLaneWritesTheNumberedOnesAgain() {
        PendingSend numbered = sends.send(7, 10);
        numbered.sequence = RestoredNumbers.of(4);
        PendingSend fresh = sends.send(8, 10);
        bulk.restore(5, 4, List.of(numbered, fresh));
        assertEquals(RestoredNumbers.of(5), bulk.next());
        assertTrue(bulk.accepts(RestoredNumbers.of(4)));
        assertFalse(bulk.accepts(RestoredNumbers.of(3)));
        assertFalse(bulk.accepts(4));
        assertEquals(Lane.BULK, numbered.lane);
        assertTrue(bulk.holds(7));
        assertTrue(bulk.holds(8));
        assertSame(numbered, bulk.head(FRAGMENT));
        bulk.allowance.open(1000);
        // before the peer was heard
        bulk.allowance.begin(5000, 0);
        bulk.chargeBegun();
        // what is begun, and no more, may be granted
        assertFalse(bulk.allowance.grant(1000 + Credit.charge(10) + 1, 0));
        assertTrue(bulk.allowance.grant(1000 + Credit.charge(10), 0));
        bulk.begin(numbered);
        bulk.written(numbered);
        assertSame(fresh, bulk.head(FRAGMENT));
        bulk.begin(fresh);
        assertEquals(RestoredNumbers.of(5), fresh.sequence);
    }
}
