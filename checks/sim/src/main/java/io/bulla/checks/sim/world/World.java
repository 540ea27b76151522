// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.world;

import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/// Virtual time, and everything that happens in it, one event after the other on one thread.
///
/// There is no choice at the time of an event: who is to run next is who comes first, and every delay is drawn
/// from a stream of the one who causes it. So a line that is taken out of a schedule leaves the streams of
/// others as they are.
public final class World {

    public static final long MILLI = 1_000_000;
    public static final long SECOND = 1_000 * MILLI;

    private static final ThreadLocal<World> CURRENT = new ThreadLocal<>();

    private static final class Event implements Comparable<Event> {

        private final long at;
        private final long order;
        private final Runnable what;

        Event(long at, long order, Runnable what) {
            this.at = at;
            this.order = order;
            this.what = what;
        }

        @Override
        public int compareTo(Event other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
        }
    }

    public final long seed;
    public final Thread thread = Thread.currentThread();
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private long now;
    private long order;
    private long steps;
    private long digest;
    private int channels;

    public World(long seed) {
        this.seed = seed;
        CURRENT.set(this);
    }

    /// The thread runs none any more.
    public static void forget() {
        CURRENT.remove();
    }

    /// Of the thread that runs it.
    public static World current() {
        return CURRENT.get();
    }

    public long now() {
        return now;
    }

    public long steps() {
        return steps;
    }

    /// Of all that has happened, in its order.
    public long digest() {
        return digest;
    }

    public int nextChannel() {
        return ++channels;
    }

    /// Random numbers of one owner, the same whatever others draw.
    public SplittableRandom stream(long kind, long owner, long part) {
        return new SplittableRandom(mix(mix(mix(seed, kind), owner), part));
    }

    public void at(long time, Runnable what) {
        events.add(new Event(Math.max(now, time), order++, what));
    }

    public void after(long nanos, Runnable what) {
        at(now + nanos, what);
    }

    /// Something that another run of the same schedule has to repeat.
    public void note(long what) {
        digest = mix(digest, now ^ Long.rotateLeft(what, 32));
    }

    /// The next event, if it is before `end`; else only time passes.
    ///
    /// @return false if nothing was left to do
    public boolean step(long end) {
        Event next = events.peek();
        if (next == null || next.at > end) {
            now = Math.max(now, end);
            return false;
        }
        events.poll();
        now = next.at;
        steps++;
        next.what.run();
        return true;
    }

    /// The caller, which is a coroutine of a node, goes on at a time.
    public void sleep(long nanos) {
        Thread sleeper = Thread.currentThread();
        boolean[] over = new boolean[1];
        after(nanos, () -> {
            over[0] = true;
            LockSupport.unpark(sleeper);
        });
        while (!over[0]) {
            LockSupport.park();
        }
    }

    public static long mix(long state, long with) {
        long z = (state ^ with) + 0x9e3779b97f4a7c15L;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }
}
