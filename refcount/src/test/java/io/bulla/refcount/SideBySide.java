// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/// Two threads that walk the same numbers together, so that their steps on each meet as often as they can.
final class SideBySide {

    private static final int TOGETHER = 10;

    private SideBySide() {}

    static void run(int n, IntConsumer one, IntConsumer other) throws InterruptedException {
        AtomicInteger arrived = new AtomicInteger();
        Thread second = Thread.ofPlatform().start(() -> walk(n, other, arrived));
        walk(n, one, arrived);
        second.join();
    }

    private static void walk(int n, IntConsumer step, AtomicInteger arrived) {
        for (int i = 0; i < n; i++) {
            if (i % TOGETHER == 0) {
                arrived.incrementAndGet();
                // not for ever: the other one may have failed, or have no processor
                for (int spin = 0; arrived.get() < 2 * (i / TOGETHER + 1) && spin < 2000; spin++) {
                    Thread.onSpinWait();
                }
            }
            step.accept(i);
        }
    }
}
