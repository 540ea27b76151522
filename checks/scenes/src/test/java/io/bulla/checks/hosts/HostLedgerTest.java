// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Each rule of the ledger is kept, and broken.
class HostLedgerTest {

    private static final long TIMEOUT = 1_000;
    private static final long HEARTBEAT = 100;

    private static final class Node implements Life {

        private final int rank;
        private long killedAt = Long.MAX_VALUE;
        private boolean over;

        Node(int rank) {
            this.rank = rank;
        }

        @Override
        public int rank() {
            return rank;
        }

        @Override
        public boolean isOver() {
            return over;
        }

        @Override
        public boolean hasLeft() {
            return over && killedAt == Long.MAX_VALUE;
        }

        @Override
        public long killedAt() {
            return killedAt;
        }
    }

    private final Cuts cuts = new Cuts(TIMEOUT / 3);
    private final HostLedger ledger = new HostLedger(cuts, TIMEOUT, HEARTBEAT);
    private final Node zero = new Node(0);
    private final Node one = new Node(1);
    private final Node two = new Node(2);

    @BeforeEach
    void begin() {
        List.of(zero, one, two).forEach(ledger::begun);
    }

    private void said(Node by, long at, String line) {
        ledger.said(by, at, line.split(" "));
    }

    private void leave() {
        for (Node node : List.of(zero, one, two)) {
            node.over = true;
            said(node, 9_000, "ended 0 0");
        }
        ledger.audit(List.of(zero, one, two));
    }

    private void audit() {
        ledger.audit(List.of());
    }

    private void assertBroken(String what) {
        List<String> broken = ledger.broken();
        assertEquals(1, broken.size(), broken.toString());
        assertTrue(broken.getFirst().startsWith(what), broken.toString());
    }

    @Test
    void aMessageThatIsHandledOnceBreaksNothing() {
        int id = ledger.sent(zero, 1, 10);
        said(one, 5, "handled " + id + " 10 ok");
        said(zero, 6, "done " + id);
        int cast = ledger.sent(zero, HostLedger.ALL, 3);
        said(one, 7, "handled " + cast + " 3 ok");
        said(two, 7, "handled " + cast + " 3 ok");
        said(zero, 8, "confirmed " + cast + " []");
        leave();
        assertEquals(List.of(), ledger.broken());
        assertEquals("messages=2 lost=0 doubled=0 false-verdicts=0", ledger.figures());
        assertEquals("acknowledged=1 verdicts=0 wrong=0", ledger.story());
    }

    @Test
    void anAcknowledgedMessageIsHandled() {
        said(zero, 6, "done " + ledger.sent(zero, 1, 10));
        leave();
        assertBroken("acknowledged and not handled: id=1");
    }

    @Test
    void aMessageToAKilledProcessMayBeLost() {
        int id = ledger.sent(zero, 1, 10);
        said(zero, 6, "done " + id);
        one.killedAt = 7;
        leave();
        assertEquals(List.of(), ledger.broken());
    }

    @Test
    void aLaterLifeNeedNotHandleWhatAnEarlierOneDid() {
        int id = ledger.sent(zero, HostLedger.ALL, 10);
        said(one, 5, "handled " + id + " 10 ok");
        said(two, 5, "handled " + id + " 10 ok");
        said(zero, 6, "confirmed " + id + " []");
        two.over = true;
        said(two, 7, "ended 0 0");
        Node again = new Node(2);
        ledger.begun(again);
        for (Node node : List.of(zero, one, again)) {
            node.over = true;
            said(node, 9_000, "ended 0 0");
        }
        ledger.audit(List.of(zero, one, again));
        assertEquals(List.of(), ledger.broken());
    }

    @Test
    void aLaterLifeHandlesWhatIsSentToIt() {
        two.over = true;
        said(two, 7, "ended 0 0");
        Node again = new Node(2);
        ledger.begun(again);
        said(zero, 8, "done " + ledger.sent(zero, 2, 10));
        for (Node node : List.of(zero, one, again)) {
            node.over = true;
            said(node, 9_000, "ended 0 0");
        }
        ledger.audit(List.of(zero, one, again));
        assertBroken("acknowledged and not handled: id=1");
    }

    @Test
    void everyMessageHasAnOutcome() {
        ledger.sent(zero, 1, 10);
        assertEquals(1, ledger.open().size());
        leave();
        assertBroken("no outcome: id=1");
    }

    @Test
    void aMessageIsHandledOnce() {
        int id = ledger.sent(zero, 1, 10);
        said(one, 5, "handled " + id + " 10 ok");
        said(one, 6, "handled " + id + " 10 ok");
        assertBroken("handled again: id=1");
    }

    @Test
    void aMessageCompletesOnce() {
        int id = ledger.sent(zero, 1, 10);
        said(zero, 5, "failed " + id + " why");
        said(zero, 6, "failed " + id + " why");
        assertBroken("completed again: id=1");
    }

    @Test
    void bytesAreThose() {
        said(one, 5, "handled " + ledger.sent(zero, 1, 10) + " 10 wrong");
        assertBroken("other bytes: id=1");
    }

    @Test
    void messagesAreHandledInOrder() {
        int first = ledger.sent(zero, 1, 10);
        int second = ledger.sent(zero, 1, 10);
        said(one, 5, "handled " + second + " 10 ok");
        said(one, 6, "handled " + first + " 10 ok");
        assertBroken("out of order: id=1");
    }

    @Test
    void aConfirmedBroadcastIsHandledByAll() {
        int id = ledger.sent(zero, HostLedger.ALL, 10);
        said(one, 5, "handled " + id + " 10 ok");
        said(zero, 6, "confirmed " + id + " []");
        leave();
        assertBroken("confirmed and not handled: id=1");
    }

    @Test
    void aBroadcastNamesNoNodeThatCouldBeReached() {
        said(zero, 6, "confirmed " + ledger.sent(zero, HostLedger.ALL, 10) + " [2]");
        audit();
        assertBroken("a broadcast names a node that could be reached: id=1");
    }

    @Test
    void aNodeThatCouldBeReachedIsNotJudged() {
        int cut = cuts.begin(0, 1, 1_000);
        cuts.end(cut, 1_500);
        said(zero, 2_000, "lost 1 peer 1 failed: no connection");
        audit();
        assertBroken("a node that could be reached is judged: judge=" + zero);
    }

    @Test
    void aNodeThatCouldNotBeReachedIsJudged() {
        cuts.begin(1, Cuts.ALL, 1_000);
        said(zero, 2_000, "lost 1 peer 1 failed: no connection");
        audit();
        assertEquals(List.of(), ledger.broken());
        assertTrue(ledger.isJudged(zero, 1, 1_500));
        assertEquals(2_000, ledger.judgedAt(zero, 1, 1_500));
    }

    @Test
    void theLastWordMayBeAHeartbeatAndATickOlderThanACut() {
        cuts.end(cuts.begin(1, Cuts.ALL, 1_000), 1_850);
        said(zero, 1_850, "lost 1 peer 1 failed: no connection");
        cuts.end(cuts.begin(2, Cuts.ALL, 1_000), 1_849);
        said(zero, 1_850, "lost 2 peer 2 failed: no connection");
        audit();
        assertEquals(1, ledger.broken().size(), () -> ledger.broken().toString());
        assertBroken("a node that could be reached is judged: judge=" + zero + " peer=2 ");
    }

    @Test
    void aProcessThatDidNotRunCouldNotBeReached() {
        said(zero, 2_000, "lost 1 peer 1 failed: no connection");
        said(one, 2_500, "held 1000 2000");
        audit();
        assertEquals(List.of(), ledger.broken());
    }

    @Test
    void cutsThatOverlapCountOnce() {
        cuts.end(cuts.begin(0, 1, 1_000), 1_600);
        cuts.end(cuts.begin(1, Cuts.ALL, 1_200), 1_700);
        assertEquals(700, cuts.nanos(1, 0, 0, 5_000));
        assertEquals(500, cuts.nanos(1, 2, 0, 5_000));
        assertEquals(0, cuts.nanos(0, 2, 0, 5_000));
    }

    @Test
    void aGapBetweenCutsThatIsTooShortToBeHeardInCounts() {
        cuts.end(cuts.begin(0, 1, 1_000), 1_400);
        cuts.end(cuts.begin(0, Cuts.ALL, 1_700), 2_000);
        assertEquals(1_000, cuts.nanos(0, 1, 0, 5_000));
        cuts.end(cuts.begin(0, 1, 2_334), 2_400);
        assertEquals(1_066, cuts.nanos(0, 1, 0, 5_000), "longer than an attempt");
        cuts.end(cuts.begin(0, 1, 2_467), 2_500);
        assertEquals(1_099, cuts.nanos(0, 1, 0, 5_000), "longer than the cut before");
        cuts.end(cuts.begin(0, 1, 2_533), 2_600);
        assertEquals(1_199, cuts.nanos(0, 1, 0, 5_000));
        assertEquals(300, cuts.nanos(0, 2, 1_500, 2_400), "no cut before, none after");
    }

    @Test
    void theEndOfALifeIsAReasonOnce() {
        one.over = true;
        said(zero, 2_000, "lost 1 peer 1 failed: it was restarted");
        said(zero, 3_000, "lost 1 peer 1 failed: it was restarted");
        audit();
        assertBroken("a node that could be reached is judged");
    }

    @Test
    void whatAPeerIsSaidToHaveDoneItHasDone() {
        said(zero, 2_000, "lost 1 peer 1 failed: it had given this node up");
        audit();
        assertBroken("a node that could be reached is judged");
    }

    @Test
    void aNodeMayJudgeWhoHasGivenItUp() {
        cuts.end(cuts.begin(0, 1, 1_000), 2_000);
        said(one, 2_000, "lost 0 peer 0 failed: no connection");
        said(zero, 30_000, "lost 1 peer 1 failed: it had given this node up");
        audit();
        assertEquals(List.of(), ledger.broken());
    }

    @Test
    void aVerdictSaysWhatHappened() {
        cuts.end(cuts.begin(0, 1, 1_000), 2_000);
        said(zero, 2_000, "lost 1 peer 1 failed: it was restarted");
        assertBroken("words that are not true");
        assertTrue(ledger.isSaid(zero, 1, 2_000, "restarted"));
    }

    @Test
    void aGoodbyeIsOfANodeThatLeft() {
        one.over = true;
        one.killedAt = 1_000;
        said(zero, 2_000, "lost 1 peer 1 failed: it has closed");
        assertBroken("words that are not true");
    }

    @Test
    void memoryIsGivenBack() {
        said(zero, 5, "ended 1 100");
        assertBroken("memory is not given back");
    }
}
