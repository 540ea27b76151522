// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.peers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.testkit.Bytes;
import io.bulla.testkit.NoOpenHandles;
import io.bulla.testkit.SlowChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Views are cached across incomplete writes, and the next write starts where the last one stopped.
///
/// netty#2761.
@ExtendWith(NoOpenHandles.class)
class ViewIsKeptAcrossWritesTest {

    private static final byte[] MESSAGE = Bytes.numbered(13, 300);

    @Test
    void cachedViewSendsTheRestToTheNextPeer() {
        ByteBuffer cached = ByteBuffer.wrap(MESSAGE);
        new SlowChannel(new byte[0], 100).write(cached);
        SlowChannel next = new SlowChannel(new byte[0], 1_000);
        next.write(cached);
        assertArrayEquals(Arrays.copyOfRange(MESSAGE, 100, 300), next.written());
    }

    @Test
    void sendsInTurnsEachFinishTheirOwn(MemorySource source) throws IOException {
        try (SealedBuffer one = Bytes.seal(source, MESSAGE);
                SealedBuffer both = SealedBuffer.concat(one, one)) {
            SlowChannel[] peers = {new SlowChannel(new byte[0], 7), new SlowChannel(new byte[0], 110)};
            ByteBuffer[][] progress = {
                both.iovec().asByteBuffers(), both.iovec().asByteBuffers()
            };
            for (int turn = 0; turn < 200; turn++) {
                peers[turn % 2].write(progress[turn % 2]);
            }
            for (SlowChannel peer : peers) {
                assertArrayEquals(Bytes.of(both), peer.written());
            }
        }
    }

    @Test
    void sendThatFailedHalfWayIsSentAgainFromTheStart(MemorySource source) throws IOException {
        try (SealedBuffer buffer = Bytes.seal(source, MESSAGE)) {
            IoVec vector = buffer.iovec();
            AtomicInteger steps = new AtomicInteger();
            SlowChannel breaking = new SlowChannel(new byte[0], 100).between(() -> {
                if (steps.incrementAndGet() == 2) {
                    throw new UncheckedIOException(new IOException("connection reset"));
                }
            });
            assertThrows(UncheckedIOException.class, () -> vector.writeTo(breaking));
            SlowChannel again = new SlowChannel(new byte[0], 100);
            vector.writeTo(again);
            assertArrayEquals(MESSAGE, again.written());
        }
    }
}
