// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Nodes on sockets that listened before their rank was known.
@Timeout(120)
class ListenerTest {

    private static ServerSocketChannel listening() throws IOException {
        return ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    @Test
    void whoConnectsBeforeTheStartIsAcceptedAfterIt() throws Exception {
        try (ArenaSource memory = ArenaSource.create();
                SealedBuffer word =
                        BufferBuilder.create(memory).putByte((byte) 7).seal()) {
            ServerSocketChannel early = listening();
            InetSocketAddress address = (InetSocketAddress) early.getLocalAddress();
            OobNodeBuilder first = OobNode.builder(0, 2)
                    .memory(memory)
                    .security(Security.plaintext())
                    .directory(peer -> address)
                    .peerTimeout(Duration.ofSeconds(60))
                    .helloDeadline(Duration.ofSeconds(60));
            try (OobNode sender = first.start()) {
                Send send = sender.send(1, 1, word);
                OobNodeBuilder second = OobNode.builder(1, 2)
                        .memory(memory)
                        .security(Security.plaintext())
                        .directory(peer -> sender.address())
                        .listener(early);
                try (OobNode receiver = second.start()) {
                    assertEquals(address, receiver.address());
                    assertEquals(1, send.get(60, TimeUnit.SECONDS).bytes());
                }
            }
            assertFalse(early.isOpen());
        }
    }

    @Test
    void aNodeThatDoesNotStartClosesItsSocket() throws Exception {
        try (ArenaSource memory = ArenaSource.create()) {
            ServerSocketChannel early = listening();
            OobNodeBuilder other = OobNode.builder(0, 1)
                    .memory(memory)
                    .security(Security.plaintext())
                    .directory(peer -> null)
                    .transport(new Transport(
                            Transport.NIO.loops(), Transport.NIO.server(), io.netty.channel.local.LocalChannel.class))
                    .listener(early);
            assertTrue(assertThrows(IllegalArgumentException.class, other::start)
                    .getMessage()
                    .startsWith("a socket that listens already is for Transport.NIO"));
            assertFalse(early.isOpen());
        }
    }
}
