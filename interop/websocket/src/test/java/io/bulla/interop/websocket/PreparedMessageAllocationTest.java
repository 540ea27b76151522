// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.buffer.ArenaSource;
import io.bulla.testkit.heap.HeapCost;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameEncoder;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.FastThreadLocalThread;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a client costs of the heap once it is compiled: handle, promise and buffer, whatever the size of a message.
class PreparedMessageAllocationTest {

    private final ArenaSource memory = ArenaSource.create();

    @ParameterizedTest
    @CsvSource({"100, false", "100, true", "16000, true", "100000, false", "100000, true"})
    void preparedMessageTakesAtMost200Bytes(int size, boolean compressed) throws InterruptedException {
        EmbeddedChannel channel = new EmbeddedChannel(new WebSocket13FrameEncoder(false), new PreparedMessageHandler());
        if (compressed) {
            SharedDeflateTest.agree(channel);
        }
        PreparedMessageHandler handler = PreparedMessageHandler.of(channel);
        PreparedMessages messages =
                PreparedMessages.builder(memory).fragment(1 << 20).build();
        try (PreparedMessage message = messages.text("abcde".repeat(size / 5))) {
            atMost200Bytes(() -> {
                handler.write(message);
                ReferenceCountUtil.release(channel.readOutbound());
            });
        }
        channel.finishAndReleaseAll();
    }

    /// In a thread as Netty's loops are, which have its recycled objects.
    private static void atMost200Bytes(Runnable write) throws InterruptedException {
        HeapCost.atMost(200, FastThreadLocalThread::new, write);
    }
}
