// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Waits for what happens in another process. */
final class Await {

    private Await() {}

    /** @throws IllegalStateException when the patience is over, which says nothing of how fast something has to be */
    static void until(String what, int patienceSeconds, Callable<Boolean> happened) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(patienceSeconds);
        while (!happened.call()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("does not happen: " + what);
            }
            Thread.sleep(20);
        }
    }

    /** @throws IllegalStateException if it is not so */
    static void check(boolean right, String wrong) {
        if (!right) {
            throw new IllegalStateException(wrong);
        }
    }
}
