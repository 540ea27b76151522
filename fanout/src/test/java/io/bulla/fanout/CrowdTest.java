// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// A hundred thousand subscribers. What an operation costs is told by what it allocates: a copy of a list for each
/// subscriber would be gigabytes.
class CrowdTest {

    private static final int MANY = 100_000;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void subscribeAndLeaveCostTheSameHoweverManyThereAre() {
        try (Fanout feed = Fanout.builder().build()) {
            Quiet quiet = new Quiet();
            List<Subscription> all = new ArrayList<>(MANY);
            atMost(300, "subscribe", () -> {
                for (int i = 0; i < MANY; i++) {
                    all.add(feed.subscribe(quiet));
                }
            });
            atMost(64, "leave", () -> all.forEach(Subscription::leave));
            assertEquals(0, feed.figures().subscribers());
            // places of those that left are used again
            atMost(300, "come and go", () -> {
                for (int i = 0; i < MANY; i++) {
                    feed.subscribe(quiet).leave();
                }
            });
            assertEquals(0, feed.figures().subscribers());
        }
    }

    @Test
    void followingTopicsCostsTheSameHoweverManyThereAre() {
        try (Topics<Integer> topics = Fanout.builder().topics()) {
            Quiet quiet = new Quiet();
            List<Subscription> all = new ArrayList<>(MANY);
            atMost(1_000, "subscribe", () -> {
                for (int i = 0; i < MANY; i++) {
                    all.add(topics.subscribe(quiet, List.of(-1, i)));
                }
            });
            assertEquals(MANY + 1, topics.topics());
            atMost(100, "leave", () -> all.forEach(Subscription::leave));
            assertEquals(0, topics.topics());
        }
    }

    @Test
    void aMessageCostsReadySubscribersNothingAndBlockedOnesAHandle() throws Exception {
        try (ArenaSource memory = ArenaSource.create();
                Fanout feed = Fanout.builder().build();
                SealedBuffer message = Line.message(memory, 1, 8)) {
            Quiet ready = new Quiet();
            for (int i = 0; i < MANY; i++) {
                feed.subscribe(ready);
            }
            feed.publish(message);
            atMost(1, "publish to those that are ready", () -> publish(feed, message));
            assertEquals(2 * MANY, ready.got);
            Quiet blocked = new Quiet();
            blocked.ready = false;
            List<Subscription> all = new ArrayList<>(MANY);
            for (int i = 0; i < MANY; i++) {
                all.add(feed.subscribe(blocked));
            }
            // a handle, and a queue of four places
            atMost(24 + 32 + 8, "publish to those that are not", () -> publish(feed, message));
            atMost(24 + 8, "publish to those that are not", () -> publish(feed, message));
            assertEquals(2 * MANY, feed.queued());
            assertEquals(1 + 2 * MANY, message.holders());
            blocked.ready = true;
            all.forEach(Subscription::proceed);
            assertEquals(1, message.holders());
            assertEquals(2 * MANY, blocked.got);
        }
    }

    /// Bytes for each of many; what stays is less, since some of it is garbage.
    private static void atMost(long bytes, String what, Runnable work) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        work.run();
        long each = (THREADS.getCurrentThreadAllocatedBytes() - before) / MANY;
        assertTrue(each <= bytes, () -> what + " takes too much: bytes=" + each + " limit=" + bytes);
    }

    private static void publish(Fanout feed, SealedBuffer message) {
        try {
            feed.publish(message);
        } catch (InterruptedException failure) {
            throw new AssertionError(failure);
        }
    }

    /// Keeps nothing of what it gets.
    private static final class Quiet implements Subscriber {

        boolean ready = true;
        int got;

        @Override
        public boolean isReady() {
            return ready;
        }

        @Override
        public void send(SealedBuffer message) {
            got++;
        }

        @Override
        public void close(End why) {}
    }
}
