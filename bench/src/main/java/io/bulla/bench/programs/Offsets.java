// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.BufferReader;
import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Locale;

/// What 4096 numbers cost, turned round by a builder and copied by the JDK, by where they begin in an array of
/// Java's: one run for each of 16 offsets, which is a cache line.
///
/// Prints `offset=4 turned=112.3ns copied=67.1ns read=110.4ns copied-out=66.0ns`, the best of some batches each, and
/// their medians. One should see: one or two offsets where both ends lie alike in their cache lines and turning costs
/// little more than the copy, and all others, where each vector of one of the ends lies in two lines; the copy does
/// not mind. Where an array lies, no program chooses, so which offsets these are differs from run to run.
public final class Offsets {

    private static final int COUNT = 4096;
    private static final int OFFSETS = 16;
    private static final int BATCHES = 9;
    private static final int TIMES = 5000;

    private final int[] values = new int[COUNT + OFFSETS];
    private final BufferBuilder builder;
    private final MemorySegment memory;
    private final SealedBuffer sealed;
    private final BufferReader reader;

    private Offsets(ArenaSource source) {
        int bytes = COUNT * Integer.BYTES;
        builder = BufferBuilder.ofCapacity(source, bytes);
        memory = source.allocate(bytes).segment();
        sealed = BufferBuilder.ofCapacity(source, bytes)
                .putInts(values, 0, COUNT)
                .seal();
        reader = BufferReader.of(sealed);
    }

    public static void main(String[] args) {
        try (ArenaSource source = ArenaSource.create()) {
            Offsets offsets = new Offsets(source);
            // compiled for all offsets before the first one is measured
            for (int offset = 0; offset < OFFSETS; offset++) {
                offsets.turned(offset);
                offsets.copied(offset);
                offsets.read(offset);
                offsets.copiedOut(offset);
            }
            double[] turned = new double[OFFSETS];
            double[] copied = new double[OFFSETS];
            double[] read = new double[OFFSETS];
            double[] copiedOut = new double[OFFSETS];
            for (int offset = 0; offset < OFFSETS; offset++) {
                turned[offset] = offsets.turned(offset);
                copied[offset] = offsets.copied(offset);
                read[offset] = offsets.read(offset);
                copiedOut[offset] = offsets.copiedOut(offset);
                System.out.printf(
                        Locale.ROOT,
                        "offset=%d turned=%.1fns copied=%.1fns read=%.1fns copied-out=%.1fns%n",
                        offset,
                        turned[offset],
                        copied[offset],
                        read[offset],
                        copiedOut[offset]);
            }
            System.out.printf(Locale.ROOT, "turned ns=%.1f%ncopied ns=%.1f%n", Medians.of(turned), Medians.of(copied));
            System.out.printf(
                    Locale.ROOT, "read ns=%.1f%ncopied-out ns=%.1f%n", Medians.of(read), Medians.of(copiedOut));
            offsets.builder.close();
            offsets.sealed.close();
        }
    }

    private double turned(int offset) {
        return best(() -> {
            builder.truncate(0);
            builder.putInts(values, offset, COUNT);
        });
    }

    private double copied(int offset) {
        return best(() -> MemorySegment.copy(values, offset, memory, ValueLayout.JAVA_INT_UNALIGNED, 0, COUNT));
    }

    private double read(int offset) {
        return best(() -> reader.position(0).getInts(values, offset, COUNT));
    }

    private double copiedOut(int offset) {
        return best(() -> MemorySegment.copy(memory, ValueLayout.JAVA_INT_UNALIGNED, 0, values, offset, COUNT));
    }

    private static double best(Runnable work) {
        double best = Double.MAX_VALUE;
        for (int batch = 0; batch < BATCHES; batch++) {
            long start = System.nanoTime();
            for (int i = 0; i < TIMES; i++) {
                work.run();
            }
            best = Math.min(best, (double) (System.nanoTime() - start) / TIMES);
        }
        return best;
    }
}
