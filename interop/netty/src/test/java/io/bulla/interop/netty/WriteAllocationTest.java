// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.heap.HeapCost;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.FastThreadLocalThread;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a write costs of the heap once it is compiled: handle, promise and buffer, whatever the number of regions.
class WriteAllocationTest {

    private final ArenaSource memory = ArenaSource.create();

    @ParameterizedTest
    @CsvSource({"1, false", "1, true", "2, false", "2, true"})
    void writeTakesAtMost200Bytes(int regions, boolean headed) throws InterruptedException {
        EmbeddedChannel channel = new EmbeddedChannel();
        // not watched for leaks, which would be most of what is measured
        ByteBuf header =
                new UnpooledByteBufAllocator(true, true).directBuffer(4).writeInt(0xcafe);
        try (SealedBuffer message = message(regions)) {
            atMost200Bytes(() -> {
                SealedWrite.share(channel, headed ? header.retain() : Unpooled.EMPTY_BUFFER, message);
                ReferenceCountUtil.release(channel.readOutbound());
            });
        }
        header.release();
        channel.finishAndReleaseAll();
    }

    @ParameterizedTest
    @CsvSource({"1", "2"})
    void writeOfAByteBufTakesAtMost200Bytes(int regions) throws InterruptedException {
        EmbeddedChannel channel = new EmbeddedChannel();
        try (SealedBuffer message = message(regions)) {
            atMost200Bytes(() -> {
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
    private static void atMost200Bytes(Runnable write) throws InterruptedException {
        HeapCost.atMost(200, FastThreadLocalThread::new, write);
    }
}
