// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.node;

import io.bulla.runtime.oob.Transport;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.testkit.internal.Ballast;
import io.netty.channel.EventLoop;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/// What [LoopOnFullHeapTest] starts in a small heap: a task on an event loop fills the heap and fails, as the first
/// failure of that process. Prints whether the loop runs the next task, once there is heap again.
final class LoopOnFullHeap {

    private LoopOnFullHeap() {}

    public static void main(String... none) throws Exception {
        NodeLog.load();
        EventLoop loop = new SteadyLoops(Transport.NIO.loops()).next();
        loop.submit(() -> {}).get();
        AtomicReference<Ballast> filled = new AtomicReference<>();
        loop.execute(() -> {
            Ballast heap = new Ballast(0);
            heap.fill();
            filled.set(heap);
            throw new OutOfMemoryError("as told");
        });
        while (filled.get() == null) {
            Thread.onSpinWait();
        }
        // so long the loop has to cope with its failure while nothing can be allocated
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        filled.get().drop();
        String next;
        try {
            next = loop.submit(() -> "runs").get(60, TimeUnit.SECONDS);
        } catch (Throwable failure) {
            next = failure.toString();
        }
        System.out.println("next=" + next);
        System.exit(0);
    }
}
