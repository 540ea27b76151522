// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// Threads that begin at the same time; what one of them throws is thrown to the caller.
public final class Racers implements AutoCloseable {

    private final ExecutorService threads;

    public Racers(int count) {
        threads = Executors.newFixedThreadPool(count);
    }

    public void race(Runnable... actions) throws Exception {
        CyclicBarrier start = new CyclicBarrier(actions.length);
        List<Future<?>> running = new ArrayList<>();
        for (Runnable action : actions) {
            running.add(threads.submit(() -> {
                start.await();
                action.run();
                return null;
            }));
        }
        for (Future<?> each : running) {
            each.get();
        }
    }

    @Override
    public void close() {
        threads.close();
    }
}
