// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.topology.Routing;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Two parents hand a broadcast on with different lengths: the one that has finished is answered, whatever the other
/// does.
@Timeout(60)
class LyingParentTest {

    private static final int NODES = 5;
    private static final int WRONG = 9000;
    private static final int RIGHT = 4000;
    private static final int PIECE = 2000;

    private final Cluster cluster = new Cluster();
    private final Semaphore noticed = new Semaphore(0);
    private final Semaphore handled = new Semaphore(0);
    private Member liar;
    private Member honest;

    /// Node 3 below ranks 1 and 2, in a chain from 0 to 3.
    private void start(Duration peerTimeout) throws Exception {
        cluster.directory = peer -> null;
        Routing chain = (rank, root, nodes) -> rank + 1 < nodes ? new int[] {rank + 1} : new int[0];
        OobNode node = cluster.add(
                3,
                NODES - 1,
                builder -> builder.peerTimeout(peerTimeout)
                        .heartbeat(Duration.ofMinutes(10))
                        .routing(chain));
        node.receive(
                Cluster.TAG, message -> handled.release((int) message.buffer().byteSize()));
        node.receiveNotices(Runnable::run, (peer, topic, text) -> noticed.release());
        liar = new Member(1, NODES - 1, node.address(), null);
        honest = new Member(2, NODES - 1, node.address(), null);
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        liar.close();
        honest.close();
        cluster.close();
    }

    private void say(Member member) throws Exception {
        member.notice(0).say();
        assertTrue(noticed.tryAcquire(60, TimeUnit.SECONDS));
    }

    /// @param length bytes of it that are said; the rest never is
    private void broadcast(Member from, int length, int total) throws Exception {
        say(from.broadcast(0, 7, 1, length, total, Lane.BULK));
    }

    private int answer() throws Exception {
        ByteBuffer confirmation = honest.read(Frame.Kind.CONFIRM);
        assertEquals(0, confirmation.getInt(12));
        assertEquals(7, confirmation.getLong(40));
        assertEquals(1, confirmation.getLong(48));
        return confirmation.getInt(8);
    }

    /// As a member does that keeps to the protocol.
    private void isAskedForItAgain() throws Exception {
        assertEquals(-1, answer());
        honest.acknowledge(0, 0, 1);
        broadcast(honest, RIGHT, RIGHT);
        assertEquals(1, answer());
        assertTrue(handled.tryAcquire(RIGHT, 60, TimeUnit.SECONDS));
        assertEquals(0, handled.availablePermits());
    }

    @Test
    void whoFinishedIsAskedAgainWhenTheOtherLeaves() throws Exception {
        start(Duration.ofMinutes(10));
        broadcast(liar, PIECE, WRONG);
        broadcast(honest, RIGHT, RIGHT);
        liar.control(Frame.Kind.BYE).say();
        isAskedForItAgain();
    }

    @Test
    void whoFinishedIsAskedAgainWhenTheOtherCopyIsGivenUp() throws Exception {
        start(Duration.ofMillis(400));
        broadcast(liar, PIECE, WRONG);
        broadcast(honest, RIGHT, RIGHT);
        // both stay
        isAskedForItAgain();
    }

    @Test
    void copyThatNobodySendsAnyMoreGivesWayAtOnce() throws Exception {
        start(Duration.ofMinutes(10));
        broadcast(liar, PIECE, WRONG);
        liar.control(Frame.Kind.BYE).say();
        assertEquals("3: peer 1 failed: it has closed", Cluster.line(cluster.lost, "closed"));
        broadcast(honest, RIGHT, RIGHT);
        assertEquals(1, answer());
        assertTrue(handled.tryAcquire(RIGHT, 60, TimeUnit.SECONDS));
    }

    @Test
    void whoSentAnotherLengthThanTheOneThatWasHandledHearsThatItWasNotTaken() throws Exception {
        start(Duration.ofMinutes(10));
        broadcast(liar, PIECE, WRONG);
        broadcast(honest, RIGHT, RIGHT);
        for (int at = PIECE; at < WRONG; at += PIECE) {
            int length = Math.min(PIECE, WRONG - at);
            liar.broadcastFrom(0, 7, 1, at, length, WRONG, Lane.BULK);
        }
        say(liar);
        assertEquals(0, answer());
        assertNull(cluster.lost.poll());
        assertTrue(handled.tryAcquire(WRONG, 60, TimeUnit.SECONDS));
    }
}
