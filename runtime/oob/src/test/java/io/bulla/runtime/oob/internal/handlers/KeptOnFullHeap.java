// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.testkit.internal.Ballast;
import java.util.Optional;

/// What [KeptOnFullHeapTest] starts in a small heap: messages without a receiver are kept, the next ones while the
/// heap is filled, with a little more room each time. Prints how many were refused, and how many of the others are
/// gone.
final class KeptOnFullHeap {

    private static final int TAG = 1;
    private static final int KEPT = 16;
    private static final int MORE = 24;
    private static final int ROUNDS = 40;
    private static final int ROOM = 16;

    private KeptOnFullHeap() {}

    public static void main(String... none) {
        try (ArenaSource source = ArenaSource.create()) {
            int refused = 0;
            int lost = 0;
            for (int round = 0; round < ROUNDS; round++) {
                LoopHandlers onLoop = new LoopHandlers(0, (task, whenDown) -> task.run(), Environment.MACHINE, 1);
                Receivers receivers = new Receivers(0, Long.MAX_VALUE, onLoop);
                Incoming[] all = new Incoming[KEPT + MORE];
                for (int i = 0; i < all.length; i++) {
                    all[i] = new Incoming(
                            new Message(
                                    1,
                                    TAG,
                                    Optional.empty(),
                                    BufferBuilder.create(source).putInt(i).seal()),
                            null,
                            null,
                            null);
                    all[i].compact(source);
                }
                int kept = 0;
                for (; kept < KEPT; kept++) {
                    receivers.of(all[kept]);
                }
                Ballast heap = new Ballast(ROOM * round);
                heap.fill();
                for (int i = KEPT; i < all.length; i++) {
                    try {
                        receivers.of(all[i]);
                        kept++;
                    } catch (OutOfMemoryError full) {
                        refused++;
                    }
                }
                heap.drop();
                while (receivers.nextKept(TAG, null) != null) {
                    kept--;
                }
                lost += kept;
                for (Incoming each : all) {
                    each.message.buffer().close();
                }
            }
            System.out.println("refused=" + (refused > 0) + " lost=" + lost);
        }
    }
}
