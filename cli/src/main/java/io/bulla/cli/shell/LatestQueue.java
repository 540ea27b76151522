// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.shell;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/// A queue of what peers have said, in order. It keeps the latest of each kind alone, so that a peer that repeats
/// itself fills no memory. Any thread.
public final class LatestQueue<E> {

    private final Lock lock = new ReentrantLock();
    private final Condition some = lock.newCondition();
    // under the lock
    private final SequencedMap<Object, E> waiting = new LinkedHashMap<>();

    /// Adds one, in the place of the one of its kind that has not been taken yet.
    public void put(Object kind, E event) {
        lock.lock();
        try {
            waiting.put(kind, event);
            some.signal();
        } finally {
            lock.unlock();
        }
    }

    /// Takes the first one, and waits for it.
    ///
    /// @return `null` when the time is over
    public E poll(long nanos) throws InterruptedException {
        long left = nanos;
        lock.lockInterruptibly();
        try {
            while (waiting.isEmpty()) {
                if (left <= 0) {
                    return null;
                }
                left = some.awaitNanos(left);
            }
            return waiting.pollFirstEntry().getValue();
        } finally {
            lock.unlock();
        }
    }

    public void clear() {
        lock.lock();
        try {
            waiting.clear();
        } finally {
            lock.unlock();
        }
    }
}
