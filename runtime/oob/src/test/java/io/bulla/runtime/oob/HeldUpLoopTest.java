// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A loop that was held up gives those who connect their time again, and no more than that.
@Timeout(60)
class HeldUpLoopTest {

    @Test
    void whoSaysNothingIsDisconnectedAlsoByALoopThatWasHeldUp() throws Exception {
        try (Cluster cluster = new Cluster()) {
            cluster.directory = peer -> null;
            OobNode node = cluster.add(
                    0, 2, setup -> setup.helloDeadline(Duration.ofMillis(500)).heartbeat(Duration.ofMillis(50)));
            try (SocketChannel silent = SocketChannel.open(node.address())) {
                // likely accepted; if not, it has its time from then on
                Thread.sleep(100);
                CountDownLatch heldUp = new CountDownLatch(1);
                node.loop().eventLoop().execute(() -> {
                    LockSupport.parkNanos(1_500_000_000);
                    heldUp.countDown();
                });
                heldUp.await();
                assertEquals(-1, silent.read(ByteBuffer.allocate(1)));
            }
            Cluster.line(cluster.log, "no hello in time: millis=500");
        }
    }
}
