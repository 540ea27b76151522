// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.netty.channel.EventLoop;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// How long a broadcast may take that comes piece by piece, by a clock that stands still between the test's steps.
@Timeout(60)
class SlowBroadcastTest {

    private static final Duration PEER_TIMEOUT = Duration.ofMillis(400);
    // of the node: half a heartbeat
    private static final Duration TICK = Duration.ofMillis(10);
    private static final int PIECE = 2000;
    private static final int PIECES = 4;

    private final Cluster cluster = new Cluster();
    private final AtomicLong now = new AtomicLong(System.nanoTime());
    private final Semaphore noticed = new Semaphore(0);
    private final Semaphore handled = new Semaphore(0);
    private Member parent;
    private EventLoop loop;

    @AfterEach
    void nothingIsLeft() throws Exception {
        parent.close();
        cluster.close();
    }

    private void start() throws Exception {
        cluster.directory = peer -> null;
        Environment stepped = new Environment(
                now::get, Environment.MACHINE.random(), Environment.MACHINE.threads(), Environment.MACHINE.watch());
        OobNode node = cluster.add(
                1,
                2,
                setup -> setup.environment(stepped).peerTimeout(PEER_TIMEOUT).heartbeat(TICK.multipliedBy(2)));
        node.receive(
                Cluster.TAG, message -> handled.release((int) message.buffer().byteSize()));
        node.receiveNotices(Runnable::run, (peer, topic, text) -> noticed.release());
        loop = node.loop().eventLoop();
        parent = new Member(0, 2, node.address(), null);
    }

    /// Lets the node's time pass; the parent says something meanwhile, so that it is not taken for lost.
    private void pass(Duration time) throws Exception {
        for (Duration left = time; left.isPositive(); left = left.minus(TICK)) {
            parent.notice(0).say();
            assertTrue(noticed.tryAcquire(60, TimeUnit.SECONDS));
            now.addAndGet(TICK.toNanos());
            // behind the next look of the node, which waits as long from its last one
            loop.schedule(() -> {}, TICK.toNanos() + 1, TimeUnit.NANOSECONDS).get();
        }
    }

    private void piece(int index) throws Exception {
        parent.broadcastFrom(0, 7, 1, index * PIECE, PIECE, PIECES * PIECE, Lane.BULK)
                .say();
    }

    private int answer() throws Exception {
        ByteBuffer confirmation = parent.read(Frame.Kind.CONFIRM);
        return confirmation.getInt(8);
    }

    @Test
    void oneThatGrowsIsNotGivenUp() throws Exception {
        start();
        for (int i = 0; i < PIECES - 1; i++) {
            piece(i);
            pass(PEER_TIMEOUT.multipliedBy(3).dividedBy(2));
        }
        piece(PIECES - 1);
        assertEquals(1, answer());
        assertTrue(handled.tryAcquire(PIECES * PIECE, 60, TimeUnit.SECONDS));
    }

    @Test
    void oneThatDoesNotGrowIsGivenUp() throws Exception {
        start();
        piece(0);
        pass(PEER_TIMEOUT.multipliedBy(2).plus(TICK.multipliedBy(2)));
        for (int i = 1; i < PIECES; i++) {
            piece(i);
        }
        assertEquals(-1, answer());
        assertEquals(0, handled.availablePermits());
    }
}
