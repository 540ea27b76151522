// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A hint that a peer is gone shortens the verdict, and makes none alone.
class HintTest {

    private static final String REASON = "the launcher says so";

    private final Cluster cluster = new Cluster();
    private Proxy proxy;

    @BeforeEach
    void twoNodesThatHavePatience() throws Exception {
        proxy = new Proxy(() -> cluster.address(1));
        cluster.directory = peer -> peer == 1 ? proxy.address() : null;
        cluster.start(2, setup -> setup.peerTimeout(Duration.ofMinutes(10)));
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        proxy.close();
        cluster.close();
    }

    private void kill() throws Exception {
        // the port first, so that no attempt of node 0 finds it
        proxy.close();
        cluster.node(1).abort();
    }

    @Test
    void aPeerThatCanBeReachedStays() throws Exception {
        cluster.node(0).suspect(1, REASON);
        for (int i = 0; i < 5; i++) {
            Cluster.delivered(cluster.send(0, 1, i, 100));
            cluster.node(0).suspect(1, REASON);
            proxy.cutAfter(0);
        }
        Cluster.delivered(cluster.send(0, 1, 5, 100));
        assertNull(cluster.lost.poll(100, TimeUnit.MILLISECONDS));
        assertEquals(0, cluster.node(0).stats().getFirst().failures());
    }

    @Test
    void theVerdictFallsWhenTheConnectionBreaksAfterTheHint() throws Exception {
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        cluster.node(0).suspect(1, REASON);
        kill();
        assertTrue(Cluster.line(cluster.lost, REASON).startsWith("0: "));
    }

    @Test
    void theVerdictFallsWhenTheHintComesLater() throws Exception {
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        kill();
        Send send = cluster.send(0, 1, 2, 100);
        assertNull(cluster.lost.poll(100, TimeUnit.MILLISECONDS));
        cluster.node(0).suspect(1, REASON);
        Throwable failure = Cluster.failure(send);
        assertInstanceOf(PeerFailedException.class, failure);
        assertTrue(failure.getMessage().contains(REASON), failure::getMessage);
        Cluster.line(cluster.lost, REASON);
    }

    @Test
    void aPeerThatWasNeverNeededIsLookedFor() throws Exception {
        kill();
        cluster.node(0).suspect(1, REASON);
        Cluster.line(cluster.lost, REASON);
        // told once
        cluster.node(0).suspect(1, REASON);
        assertNull(cluster.lost.poll(100, TimeUnit.MILLISECONDS));
    }

    @Test
    void ranksAreChecked() {
        assertThrows(IllegalArgumentException.class, () -> cluster.node(0).suspect(2, REASON));
        cluster.node(0).suspect(0, REASON);
    }
}
