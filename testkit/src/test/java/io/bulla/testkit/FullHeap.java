// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;

/// What [FullHeapTest] starts in a small heap: seals, with the heap filled to a little more each time, and looks at
/// every buffer afterwards.
final class FullHeap {

    private static final int BUFFERS = 8;
    private static final int BYTES = 100;

    private FullHeap() {}

    public static void main(String... rounds) throws InterruptedException {
        MemoryBudget budget = new MemoryBudget(64 << 20);
        ArenaSource source = ArenaSource.create(budget, null);
        BufferBuilder[] builders = new BufferBuilder[BUFFERS];
        SealedBuffer[] sealed = new SealedBuffer[BUFFERS];
        byte[] wrote = new byte[BYTES];
        round(source, builders, sealed, wrote, 0);
        int failed = 0;
        int wrong = 0;
        for (int round = 1; round <= Integer.parseInt(rounds[0]); round++) {
            Object[] heap = new Object[1 << 16];
            int kept = fill(heap, round % 61);
            failed += round(source, builders, sealed, wrote, kept);
            heap = null;
            wrong += look(builders, sealed);
        }
        source.close(Duration.ofSeconds(60));
        System.out.println("failed=" + (failed > 0) + " wrong=" + wrong + " used=" + budget.used());
    }

    /// Fills the heap, then leaves room for a few small objects.
    private static int fill(Object[] heap, int small) {
        int count = 0;
        for (int size = 1 << 20; size >= 16; size /= 2) {
            try {
                while (count < heap.length) {
                    heap[count] = new byte[size];
                    count++;
                }
            } catch (OutOfMemoryError full) {
                // the next size
            }
        }
        for (int i = 0; i < small && count > 0; i++) {
            heap[--count] = null;
        }
        return count;
    }

    /// Each builder writes, seals, and writes on: into nothing of the next one's.
    private static int round(
            ArenaSource source, BufferBuilder[] builders, SealedBuffer[] sealed, byte[] wrote, int unused) {
        int failed = 0;
        for (int i = 0; i < BUFFERS; i++) {
            Arrays.fill(wrote, (byte) i);
            try {
                builders[i] = BufferBuilder.create(source);
                builders[i].put(wrote);
                sealed[i] = builders[i].seal();
            } catch (OutOfMemoryError full) {
                failed++;
            }
        }
        Arrays.fill(wrote, (byte) -1);
        for (BufferBuilder each : builders) {
            try {
                if (each != null) {
                    each.put(wrote);
                }
            } catch (OutOfMemoryError | IllegalStateException over) {
                // over, or no heap to say so
            }
        }
        return failed;
    }

    private static int look(BufferBuilder[] builders, SealedBuffer[] sealed) {
        int wrong = 0;
        for (int i = 0; i < BUFFERS; i++) {
            if (builders[i] != null) {
                builders[i].close();
                builders[i] = null;
            }
            if (sealed[i] != null) {
                MemorySegment bytes = sealed[i].iovec().region(0);
                for (int at = 0; at < BYTES; at++) {
                    wrong += bytes.get(ValueLayout.JAVA_BYTE, at) == i ? 0 : 1;
                }
                sealed[i].close();
                sealed[i] = null;
            }
        }
        return wrong;
    }
}
