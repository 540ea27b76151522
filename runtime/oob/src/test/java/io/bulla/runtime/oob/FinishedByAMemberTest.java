// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.topology.Radix;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A member asks for memory beside the connection for one message, and says that another one has landed there.
@Timeout(60)
class FinishedByAMemberTest {

    private static final int BYTES = 200 << 10;

    private final Cluster cluster = new Cluster();
    private final MemoryBulk device = new MemoryBulk(new MemoryBulk.Net(), cluster.source);
    private final LinkedBlockingQueue<Integer> handled = new LinkedBlockingQueue<>();
    private Member member;

    /// Node 1 of a chain, below a member of rank 0.
    @BeforeEach
    void start() throws Exception {
        cluster.directory = peer -> null;
        OobNode node = cluster.add(
                1,
                3,
                builder -> builder.peerTimeout(Duration.ofMinutes(10))
                        .heartbeat(Duration.ofMinutes(1))
                        .routing(new Radix(1))
                        .bulk(device, 100 << 10));
        node.receive(Cluster.TAG, message -> handled.add(message.origin()));
        member = new Member(0, 3, node.address(), new byte[] {'m', 'e', 'm'});
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        member.close();
        cluster.close();
    }

    private void finish(int origin, long session) throws Exception {
        member.request(BYTES).say();
        member.read(Frame.Kind.CLEAR);
        member.finished(origin, session, BYTES).say();
    }

    @Test
    void messageLands() throws Exception {
        finish(0, 0);
        assertEquals(0, handled.poll(60, TimeUnit.SECONDS));
    }

    @Test
    void broadcastThatDoesNotComeFromAboveIsRefused() throws Exception {
        finish(1, 9);
        Cluster.line(cluster.log, "broadcast from a node that is not above: peer=0 origin=1 rank=1");
        assertEquals(0, handled.size());
    }

    @Test
    void originThatIsNoNodeIsRefused() throws Exception {
        finish(3, 9);
        Cluster.line(cluster.log, "origin is not a node: origin=3 nodes=3");
        assertEquals(0, handled.size());
    }
}
