// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.bulla.buffer.ArenaSource;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameEncoder;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.lang.management.ManagementFactory;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a client costs of the heap once it is compiled: handle, promise and buffer, whatever the size of a message.
class WriteAllocationTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int BATCH = 2000;
    private static final int MAX_BATCHES = 40;
    private static final int MOST = 200;

    private final ArenaSource memory = ArenaSource.create();

    @ParameterizedTest
    @CsvSource({"100, false", "100, true", "16000, true", "100000, false", "100000, true"})
    void preparedMessageTakesAtMost200Bytes(int size, boolean compressed) {
        EmbeddedChannel channel = new EmbeddedChannel(new WebSocket13FrameEncoder(false), new PreparedMessageHandler());
        if (compressed) {
            SharedDeflateTest.agree(channel);
        }
        PreparedMessageHandler handler = PreparedMessageHandler.of(channel);
        PreparedMessages messages =
                PreparedMessages.builder(memory).fragment(1 << 20).build();
        try (PreparedMessage message = messages.text("abcde".repeat(size / 5))) {
            least(() -> {
                handler.write(message);
                ReferenceCountUtil.release(channel.readOutbound());
            });
        }
        channel.finishAndReleaseAll();
    }

    /// In a thread as Netty's loops are, which have its recycled objects.
    private static void least(Runnable write) {
        FutureTask<Long> measured = new FutureTask<>(() -> measured(write));
        new FastThreadLocalThread(measured).start();
        long least = assertDoesNotThrow(() -> measured.get());
        assertTrue(least <= MOST * BATCH, "bytes a write=" + (double) least / BATCH + " limit=" + MOST);
    }

    private static long measured(Runnable write) {
        long least = Long.MAX_VALUE;
        for (int batch = 0; batch < MAX_BATCHES && least > MOST * BATCH; batch++) {
            long start = THREADS.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < BATCH; i++) {
                write.run();
            }
            least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - start);
        }
        return least;
    }
}
