// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.lang.management.ManagementFactory;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a write costs of the heap once it is compiled: handle, promise and buffer, whatever the number of regions.
class WriteAllocationTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int BATCH = 2000;
    private static final int MAX_BATCHES = 40;
    private static final int MOST = 200;

    private final ArenaSource memory = ArenaSource.create();

    @ParameterizedTest
    @CsvSource({"1, false", "1, true", "2, false", "2, true"})
    void writeTakesAtMost200Bytes(int regions, boolean headed) {
        EmbeddedChannel channel = new EmbeddedChannel();
        // not watched for leaks, which would be most of what is measured
        ByteBuf header =
                new UnpooledByteBufAllocator(true, true).directBuffer(4).writeInt(0xcafe);
        try (SealedBuffer message = message(regions)) {
            least(() -> {
                SealedWrite.write(channel, headed ? header.retain() : Unpooled.EMPTY_BUFFER, message.share());
                ReferenceCountUtil.release(channel.readOutbound());
            });
        }
        header.release();
        channel.finishAndReleaseAll();
    }

    @ParameterizedTest
    @CsvSource({"1", "2"})
    void writeOfAByteBufTakesAtMost200Bytes(int regions) {
        EmbeddedChannel channel = new EmbeddedChannel();
        try (SealedBuffer message = message(regions)) {
            least(() -> {
                channel.writeAndFlush(SealedByteBuf.share(message));
                ReferenceCountUtil.release(channel.readOutbound());
            });
        }
        channel.finishAndReleaseAll();
    }

    private SealedBuffer message(int regions) {
        SealedBuffer[] parts = new SealedBuffer[regions];
        for (int i = 0; i < regions; i++) {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, 1000)) {
                parts[i] = builder.put(new byte[1000]).seal();
            }
        }
        SealedBuffer all = SealedBuffer.concat(parts);
        for (SealedBuffer each : parts) {
            each.close();
        }
        return all;
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
