// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// A stack that ends within an operation: memory may stay booked, and no byte is wrong. `docs/failure.md` says so.
class ShortStackTest {

    private static final int LONGS = 64;
    private static final int DEPTHS = 2000;

    private final MemoryBudget budget = new MemoryBudget(1L << 30);
    private final ArenaSource source = ArenaSource.create(budget, null);
    private final List<SealedBuffer> sealed = new ArrayList<>(4 * DEPTHS);
    private int ended;
    private int done;
    private int depths;

    private SealedBuffer message(long salt) {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            for (int i = 0; i < LONGS; i++) {
                builder.putLong(salt + i);
            }
            return builder.seal();
        }
    }

    private static void check(SealedBuffer message) {
        BufferReader in = BufferReader.of(message);
        long salt = in.getLong();
        for (int i = 1; i < LONGS; i++) {
            assertEquals(salt + i, in.getLong());
        }
    }

    /// The deepest call has no stack left; those above it have a little more each.
    private void dive() {
        try {
            dive();
        } catch (StackOverflowError deeper) {
            // the next above tries it
        }
        if (depths < DEPTHS) {
            depths++;
            operate();
        }
    }

    private void operate() {
        try {
            SealedBuffer message = message(1000L * depths);
            sealed.add(message);
            sealed.add(message.share());
            message.close();
            done++;
        } catch (StackOverflowError shortStack) {
            ended++;
        }
    }

    @Test
    void operationsThatMeetTheEndOfTheStackChangeNoByteAndTheSourceGoesOn() throws Exception {
        SealedBuffer before = message(7);
        Throwable[] thrown = new Throwable[1];
        Thread shallow = Thread.ofPlatform().unstarted(() -> {
            try {
                dive();
            } catch (Throwable failure) {
                thrown[0] = failure;
            }
        });
        shallow.start();
        shallow.join();
        assertEquals(null, thrown[0]);
        assertTrue(ended > 0 && done > 0, "ended=" + ended + " done=" + done);
        check(before);
        for (SealedBuffer each : sealed) {
            if (each.isOpen()) {
                check(each);
                each.close();
            }
        }
        try (SealedBuffer after = message(9)) {
            check(after);
        }
        check(before);
        before.close();
        source.close();
    }
}
