// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.DataType;
import io.bulla.testkit.heap.HeapCost;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Packing, and unpacking into the caller's arrays, allocates nothing once compiled.
class PackAllocationTest {

    // a byte: the measuring itself costs a few a batch
    private static final int NO_OBJECT = 1;

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
            HeapCost.atMost(NO_OBJECT, () -> {}, i -> {
                builder.truncate(0);
                pack(packer);
            });
            try (SealedBuffer buffer = builder.seal()) {
                Unpacker start = Unpacker.of(buffer, format);
                Unpacker[] forks = new Unpacker[HeapCost.ROUNDS];
                HeapCost.atMost(
                        NO_OBJECT,
                        () -> {
                            for (int i = 0; i < forks.length; i++) {
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
}
