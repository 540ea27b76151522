// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntPredicate;

/// What was sent, what became of it, and what is wrong with that.
///
/// ```
/// | id 4 | sender's life 4 | order 4 | bytes that follow from the id |
/// ```
final class ChaosLedger {

    static final int LEAST = 12;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int PATTERN = 1 << 20;

    final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    final Map<String, LongAdder> outcomes = new ConcurrentHashMap<>();
    private final AtomicIntegerArray completed;
    private final AtomicIntegerArray handled;
    // the life of the receiver that acknowledged, plus 1
    private final AtomicIntegerArray acknowledgedBy;
    private final Map<String, Integer> lastOrder = new ConcurrentHashMap<>();
    private final byte[] pattern = new byte[PATTERN + 256];

    ChaosLedger(int sends) {
        completed = new AtomicIntegerArray(sends);
        handled = new AtomicIntegerArray(sends);
        acknowledgedBy = new AtomicIntegerArray(sends);
        for (int i = 0; i < pattern.length; i++) {
            pattern[i] = (byte) (i * 7 + (i >> 8));
        }
    }

    SealedBuffer message(ArenaSource source, int id, int life, int order, int bytes) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, bytes)) {
            return builder.putInt(id)
                    .putInt(life)
                    .putInt(order)
                    .put(Arrays.copyOfRange(pattern, id & 0xff, (id & 0xff) + bytes - LEAST))
                    .seal();
        }
    }

    void completed(int id, int receiverLife, Delivery delivery, Throwable failure) {
        if (completed.incrementAndGet(id) != 1) {
            wrong.add("completed twice: id=" + id);
        }
        String outcome =
                failure == null ? delivery.status().name() : failure.getClass().getSimpleName();
        outcomes.computeIfAbsent(outcome, o -> new LongAdder()).increment();
        if (delivery != null && delivery.status() == Delivery.Status.ACKNOWLEDGED) {
            acknowledgedBy.set(id, receiverLife + 1);
        }
    }

    void handled(SealedBuffer buffer, int tag, int life) {
        int id = buffer.iovec().get(INT, 0);
        int sender = buffer.iovec().get(INT, 4);
        int order = buffer.iovec().get(INT, 8);
        if (handled.incrementAndGet(id) != 1) {
            wrong.add("handled twice: id=" + id);
        }
        check(buffer, id);
        Integer before = lastOrder.put(sender + ">" + life + "#" + tag, order);
        if (before != null && before >= order) {
            wrong.add("out of order: id=" + id + " tag=" + tag + " order=" + order + " after=" + before);
        }
    }

    void check(SealedBuffer buffer, int id) {
        long size = buffer.byteSize() - LEAST;
        MemorySegment expected = MemorySegment.ofArray(pattern).asSlice(id & 0xff, size);
        long at = 0;
        for (int i = 0; i < buffer.iovec().regionCount(); i++) {
            MemorySegment region = buffer.iovec().region(i);
            long skip = i == 0 ? LEAST : 0;
            long length = region.byteSize() - skip;
            if (region.asSlice(skip).mismatch(expected.asSlice(at, length)) >= 0) {
                wrong.add("wrong bytes: id=" + id + " region=" + i);
            }
            at += length;
        }
        if (at != size) {
            wrong.add("wrong length: id=" + id + " bytes=" + at);
        }
    }

    /// At the end: each of the first `sends` is complete, and was handled if a receiver that still lives said so.
    void settle(int sends, IntPredicate lives) {
        for (int id = 0; id < sends; id++) {
            if (completed.get(id) != 1) {
                wrong.add("never completed: id=" + id);
            }
            int life = acknowledgedBy.get(id) - 1;
            if (life >= 0 && lives.test(life) && handled.get(id) != 1) {
                wrong.add("acknowledged, not handled: id=" + id);
            }
        }
    }

    long handledInAll(int sends) {
        long sum = 0;
        for (int id = 0; id < sends; id++) {
            sum += handled.get(id);
        }
        return sum;
    }
}
