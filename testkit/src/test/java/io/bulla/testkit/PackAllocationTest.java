// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.DataType;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Packing, and unpacking into the caller's arrays, allocates nothing once compiled.
class PackAllocationTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int BATCH = 2000;
    private static final int MAX_BATCHES = 40;

    private final int[] ints = new int[100];
    private final long[] longs = new long[100];

    @ParameterizedTest
    @EnumSource(names = {"OPAL_DSS", "OPAL_DSS_DESCRIBED", "PMIX_3_DESCRIBED", "PMIX_4", "PMIX_4_DESCRIBED"})
    void packingAndUnpackingIntoArraysAllocatesNothing(WireFormat format) {
        for (int i = 0; i < ints.length; i++) {
            ints[i] = i * i * i;
            longs[i] = (long) ints[i] * ints[i];
        }
        try (BufferBuilder builder = BufferBuilder.ofCapacity(ArenaSource.create(), 1 << 16)) {
            Packer packer = Packer.into(builder, format);
            settlesAtNothing(() -> {
                builder.truncate(0);
                pack(packer);
            });
            try (SealedBuffer buffer = builder.seal()) {
                Unpacker start = Unpacker.of(buffer, format);
                Unpacker[] forks = new Unpacker[BATCH];
                settlesAtNothing(
                        () -> {
                            for (int i = 0; i < BATCH; i++) {
                                forks[i] = start.fork();
                            }
                        },
                        i -> unpack(forks[i]));
            }
        }
    }

    private void pack(Packer packer) {
        packer.packInts(DataType.INT32, ints, 0, ints.length)
                .packInts(DataType.UINT, ints, 0, ints.length)
                .packLongs(DataType.SIZE, longs, 0, longs.length);
    }

    private void unpack(Unpacker unpacker) {
        unpacker.unpackInts(DataType.INT32, ints);
        unpacker.unpackInts(DataType.UINT, ints);
        unpacker.unpackLongs(DataType.SIZE, longs);
    }

    private interface Step {
        void run(int index);
    }

    private static void settlesAtNothing(Runnable work) {
        settlesAtNothing(() -> {}, i -> work.run());
    }

    /// Less than a byte a round: the measuring itself costs a few.
    private static void settlesAtNothing(Runnable before, Step step) {
        long least = Long.MAX_VALUE;
        for (int batch = 0; batch < MAX_BATCHES && least >= BATCH; batch++) {
            before.run();
            long start = THREADS.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < BATCH; i++) {
                step.run(i);
            }
            least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - start);
        }
        assertTrue(least < BATCH, "bytes=" + least + " rounds=" + BATCH);
    }
}
