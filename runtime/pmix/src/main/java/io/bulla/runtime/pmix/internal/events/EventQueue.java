// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.events;

import io.bulla.runtime.pmix.PmixEvent;
import io.bulla.runtime.pmix.PmixStatus;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/// Hands events to listeners, one at a time and in order, on a virtual thread that lives while there are some. The
/// thread that reads never waits for a listener: what is over the bound is dropped and counted.
public final class EventQueue {

    /// A listener and its codes.
    public record Listener(Set<PmixStatus> codes, Consumer<PmixEvent> listener) {}

    private final int most;
    private final String log;
    private final ReentrantLock lock = new ReentrantLock();
    // under the lock
    // links: an add that finds no heap leaves the others
    private final Deque<PmixEvent> waiting = new LinkedList<>();
    // replaced, not changed: who tells them takes no heap
    private List<Listener> listeners = List.of();
    private boolean running;
    private long dropped;

    /// @param most that wait at once
    /// @param log name of the logger that is told of a listener that fails
    public EventQueue(int most, String log) {
        this.most = most;
        this.log = log;
    }

    public void add(Listener listener) {
        lock.lock();
        try {
            List<Listener> more = new ArrayList<>(listeners);
            more.add(listener);
            listeners = List.copyOf(more);
        } finally {
            lock.unlock();
        }
    }

    /// @return codes that no other listener is for; none if it was removed before
    public Set<PmixStatus> remove(Listener listener) {
        lock.lock();
        try {
            List<Listener> left = new ArrayList<>(listeners);
            if (!left.remove(listener)) {
                return Set.of();
            }
            Set<PmixStatus> alone = new HashSet<>(listener.codes());
            left.forEach(other -> alone.removeAll(other.codes()));
            listeners = List.copyOf(left);
            return alone;
        } finally {
            lock.unlock();
        }
    }

    public void put(PmixEvent event) {
        boolean start;
        lock.lock();
        try {
            if (waiting.size() >= most) {
                dropped++;
                return;
            }
            waiting.add(event);
            start = !running;
            running = true;
        } finally {
            lock.unlock();
        }
        if (start) {
            start();
        }
    }

    private void start() {
        boolean started = false;
        try {
            Thread.ofVirtual().name("bulla-pmix-events").start(this::run);
            started = true;
        } finally {
            if (!started) {
                stopped();
            }
        }
    }

    /// The next event starts a thread for all that wait.
    private void stopped() {
        lock.lock();
        try {
            running = false;
        } finally {
            lock.unlock();
        }
    }

    /// An event that could not be read.
    public void drop() {
        lock.lock();
        try {
            dropped++;
        } finally {
            lock.unlock();
        }
    }

    public long dropped() {
        lock.lock();
        try {
            return dropped;
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        while (true) {
            PmixEvent event;
            List<Listener> told;
            lock.lock();
            try {
                event = waiting.poll();
                running = event != null;
                if (event == null) {
                    return;
                }
                told = listeners;
            } finally {
                lock.unlock();
            }
            // an iterator would take heap
            for (int i = 0; i < told.size(); i++) {
                tell(told.get(i), event);
            }
        }
    }

    private void tell(Listener one, PmixEvent event) {
        try {
            if (one.codes().contains(event.status())) {
                one.listener().accept(event);
            }
        } catch (Throwable failure) {
            // the thread goes on: no other one is started while it runs
            log(event, failure);
        }
    }

    private void log(PmixEvent event, Throwable failure) {
        try {
            System.getLogger(log)
                    .log(
                            System.Logger.Level.WARNING,
                            "a listener for PMIx events failed: status=" + event.status(),
                            failure);
        } catch (Throwable unsaid) {
            // the events behind this one have listeners too
        }
    }
}
