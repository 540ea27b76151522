// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.runtime.oob.security.Security;
import io.netty.channel.Channel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SecurityTest {

    private static final InetSocketAddress ELSEWHERE = new InetSocketAddress("192.0.2.1", 7);

    /// Somebody who has proven to be another one.
    private static final class Imposter implements Security {

        @Override
        public void secure(Channel channel, boolean connecting, int expectedPeer) {}

        @Override
        public int peerOf(Channel channel) {
            return 2;
        }

        @Override
        public String name() {
            return "test";
        }
    }

    @Test
    void plaintextIsForLoopbackOnlyUnlessAskedFor() throws Exception {
        Security.plaintext().checkAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 7));
        Security.plaintextBeyondLoopback().checkAddress(ELSEWHERE);
        assertEquals(
                "plaintext is for loopback addresses only, unless asked for: address=/192.0.2.1:7",
                assertThrows(IOException.class, () -> Security.plaintext().checkAddress(ELSEWHERE))
                        .getMessage());
    }

    @Test
    void nodeDoesNotBindWhatItsSecurityRefuses() {
        try (ArenaSource source = ArenaSource.create()) {
            OobNodeBuilder builder = OobNode.builder(0, 1)
                    .memory(source)
                    .security(Security.plaintext())
                    .directory(peer -> null)
                    .bind(new InetSocketAddress("0.0.0.0", 0));
            assertTrue(assertThrows(IOException.class, builder::start)
                    .getMessage()
                    .startsWith("plaintext is for loopback addresses only"));
            NullPointerException none = assertThrows(
                    NullPointerException.class,
                    () -> OobNode.builder(0, 1)
                            .memory(source)
                            .directory(peer -> null)
                            .start());
            assertEquals("a node needs a security, such as Security.plaintext()", none.getMessage());
        }
    }

    @Test
    void connectionThatCannotBeSecuredIsRefusedWithALine() throws Exception {
        Security broken = new Security() {
            @Override
            public void secure(Channel channel, boolean connecting, int expectedPeer) throws IOException {
                throw new IOException("no key today: connecting=" + connecting);
            }

            @Override
            public int peerOf(Channel channel) {
                return UNKNOWN;
            }

            @Override
            public String name() {
                return "test";
            }
        };
        try (Cluster cluster = new Cluster()) {
            cluster.add(0, 2, setup -> setup.peerTimeout(Duration.ofSeconds(1)));
            cluster.add(1, 2, setup -> setup.security(broken));
            Cluster.failure(cluster.send(0, 1, 1, 4));
            assertTrue(Cluster.line(cluster.log, "refused a connection: rank=1")
                    .endsWith(" reason=no key today: connecting=false"));
        }
    }

    @Test
    void peerThatIsNotWhoItSaysIsRefused() throws Exception {
        try (Cluster cluster = new Cluster()) {
            cluster.add(0, 3, setup -> setup.peerTimeout(Duration.ofSeconds(1)));
            cluster.add(1, 3, setup -> setup.security(new Imposter()));
            Throwable failure = Cluster.failure(cluster.send(0, 1, 1, 4));
            String reason = "not who it says it is: claimed=0 proven=2";
            assertTrue(failure.getMessage().endsWith("last=refused: reason=STRANGER " + reason), failure.getMessage());
            assertTrue(Cluster.line(cluster.log, "refused a connection: rank=1").endsWith(" reason=" + reason));
        }
    }
}
