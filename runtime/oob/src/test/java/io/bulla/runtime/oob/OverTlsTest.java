// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.CopyTally;
import io.bulla.runtime.oob.security.NodeFiles;
import io.bulla.runtime.oob.security.Security;
import io.netty.channel.Channel;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Whole nodes over TLS, with certificates and with a secret.
class OverTlsTest {

    // handshakes of a cold JVM on a busy machine take long
    private static final Duration PATIENT = Duration.ofSeconds(30);

    /// Does not look at who it stands for: a node that lies.
    private record Liar(Security security) implements Security {

        @Override
        public void secure(Channel channel, boolean connecting, int expectedPeer) throws IOException {
            security.secure(channel, connecting, expectedPeer);
        }

        @Override
        public int peerOf(Channel channel) throws IOException {
            return security.peerOf(channel);
        }

        @Override
        public String name() {
            return security.name();
        }
    }

    @TempDir
    Path folder;

    @Test
    void messagesOfAllSizesArriveWithOneCopy() throws Exception {
        NodeFiles files = NodeFiles.in(folder);
        for (boolean certified : new boolean[] {true, false}) {
            try (Cluster cluster = new Cluster()) {
                for (int rank = 0; rank < 2; rank++) {
                    Security security = certified ? files.certified(rank) : files.secret(rank);
                    cluster.add(rank, 2, setup -> setup.security(security).peerTimeout(PATIENT));
                }
                CopyTally before = CopyTally.snapshot();
                int[] sizes = {4, 1000, 70_000, 5_000_000};
                for (int i = 0; i < sizes.length; i++) {
                    cluster.send(0, 1, i, sizes[i]);
                }
                Set<String> got = new TreeSet<>();
                for (int i = 0; i < sizes.length; i++) {
                    got.add(cluster.next());
                }
                assertEquals(Set.of("1 from 0: 0", "1 from 0: 1", "1 from 0: 2", "1 from 0: 3"), got);
                long copied = CopyTally.snapshot().since(before).bytes();
                assertTrue(copied >= 5_071_004 && copied < 5_100_000, "bodies and a little that steers: " + copied);
            }
        }
    }

    @Test
    void broadcastGoesDownATreeOfManyNodes() throws Exception {
        NodeFiles files = NodeFiles.in(folder);
        try (Cluster cluster = new Cluster()) {
            for (int rank = 0; rank < 8; rank++) {
                Security security = files.certified(rank);
                cluster.add(rank, 8, setup -> setup.security(security).peerTimeout(PATIENT));
            }
            try (SealedBuffer message = cluster.numbered(9, 100_000)) {
                cluster.node(0).broadcast(Cluster.TAG, message);
            }
            Set<String> got = new TreeSet<>();
            for (int rank = 1; rank < 8; rank++) {
                got.add(cluster.next());
            }
            assertEquals(7, got.size());
        }
    }

    @Test
    void nodeThatClaimsAnotherRankThanItsCertificateIsRefusedAtBothEnds() throws Exception {
        NodeFiles files = NodeFiles.in(folder);
        Security two = files.certified(2);
        Security one = files.certified(1);
        try (Cluster cluster = new Cluster()) {
            cluster.add(0, 3, setup -> setup.security(new Liar(two)).peerTimeout(PATIENT));
            cluster.add(1, 3, setup -> setup.security(one));
            Send send = cluster.send(0, 1, 1, 4);
            String reason = "not who it says it is: claimed=0 proven=2";
            assertLines(cluster, " reason=refused: reason=STRANGER " + reason, " reason=" + reason);
            send.cancel();
            assertEquals(0, cluster.got.size());
        }
    }

    /// Each end has a line, whichever comes first; on a busy machine there may be others before.
    private static void assertLines(Cluster cluster, String here, String there) throws InterruptedException {
        Set<String> wanted = new TreeSet<>(List.of(here, there));
        while (!wanted.isEmpty()) {
            String line = cluster.log.poll(20, TimeUnit.SECONDS);
            assertNotNull(line, () -> "no line with " + wanted);
            wanted.removeIf(line::contains);
        }
    }

    @Test
    void nodeWithAnotherSecretIsRefusedAtBothEnds() throws Exception {
        NodeFiles files = NodeFiles.in(folder);
        Security stranger = files.secret(0, "another secret, also long enough");
        Security one = files.secret(1);
        try (Cluster cluster = new Cluster()) {
            cluster.add(0, 2, setup -> setup.security(stranger).peerTimeout(PATIENT));
            cluster.add(1, 2, setup -> setup.security(one));
            Send send = cluster.send(0, 1, 1, 4);
            assertLines(
                    cluster,
                    " reason=secret: the peer refused this node's proof of the job's secret",
                    " reason=secret: wrong proof of the job's secret");
            send.cancel();
        }
    }

    @Test
    void nodeDoesNotStartWithAnotherNodesSecurity() throws Exception {
        NodeFiles files = NodeFiles.in(folder);
        try (Cluster cluster = new Cluster()) {
            for (Security other : List.of(files.certified(2), files.secret(2))) {
                assertEquals(
                        "security is another node's: rank=0 names=bulla://trial/rank/2",
                        assertThrows(IOException.class, () -> cluster.add(0, 3, setup -> setup.security(other)))
                                .getMessage());
            }
        }
    }

    @Test
    void thoseThatSayNoHelloDoNotKeepOthersOut() throws Exception {
        NodeFiles files = NodeFiles.in(folder);
        Security zero = files.certified(0);
        Security one = files.certified(1);
        List<Socket> silent = new ArrayList<>();
        try (Cluster cluster = new Cluster()) {
            cluster.add(0, 2, setup -> setup.security(zero).peerTimeout(PATIENT));
            cluster.add(
                    1,
                    2,
                    setup -> setup.security(one)
                            .helloDeadline(Duration.ofSeconds(2))
                            .connections(new ConnectionLimits(2, 10, 1000)));
            for (int i = 0; i < 5; i++) {
                silent.add(new Socket(
                        cluster.address(1).getAddress(), cluster.address(1).getPort()));
            }
            Cluster.await("refused", () -> cluster.node(1).refusedConnections() >= 3);
            cluster.send(0, 1, 3, 4);
            assertEquals("1 from 0: 3", cluster.next(), "tried again after the silent ones' deadline");
        } finally {
            for (Socket each : silent) {
                each.close();
            }
        }
    }
}
