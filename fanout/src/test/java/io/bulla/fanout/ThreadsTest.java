// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferReader;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.NoOpenHandles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Publishers, transports that block and go on, and subscribers that come and go, on threads of their own.
@ExtendWith(NoOpenHandles.class)
class ThreadsTest {

    private static final int PUBLISHERS = 3;
    private static final int EACH = 2_000;
    private static final int LINES = 12;

    @ParameterizedTest
    @EnumSource
    void allGetTheMessagesInOneOrder(SlowPolicy policy, MemorySource memory) throws Exception {
        Gate witness = new Gate(true);
        Queue<Gate> gates = new ConcurrentLinkedQueue<>();
        AtomicBoolean over = new AtomicBoolean();
        AtomicLong numbers = new AtomicLong();
        Fanout feed = Fanout.builder()
                .slow(policy)
                .queueMessages(8)
                .patience(Duration.ofMinutes(5))
                .build();
        witness.subscribe(feed);
        for (int i = 0; i < LINES; i++) {
            Gate gate = new Gate(i % 2 == 0);
            gate.subscribe(feed);
            gates.add(gate);
        }
        List<Thread> others = new ArrayList<>();
        others.add(Thread.ofPlatform().start(() -> {
            while (!over.get()) {
                gates.forEach(Gate::turn);
            }
        }));
        others.add(Thread.ofPlatform().start(() -> {
            while (!over.get()) {
                Gate passing = new Gate(true);
                Subscription subscription = passing.subscribe(feed);
                subscription.leave();
                passing.checkAgainst(witness, policy, false);
            }
        }));
        List<Thread> publishers = new ArrayList<>();
        for (int i = 0; i < PUBLISHERS; i++) {
            publishers.add(Thread.ofPlatform().start(() -> {
                for (int k = 0; k < EACH; k++) {
                    Line.publish(feed, "key " + k % 5, memory, numbers.getAndIncrement());
                }
            }));
        }
        for (Thread publisher : publishers) {
            publisher.join();
        }
        over.set(true);
        for (Thread other : others) {
            other.join();
        }
        feed.complete();
        gates.forEach(Gate::open);
        assertEquals(PUBLISHERS * EACH, witness.got.size());
        for (Gate gate : gates) {
            gate.checkAgainst(witness, policy, true);
        }
        assertEquals(0, feed.figures().subscribers());
        assertEquals(0, feed.queued());
    }

    /// Ready every other time that it is turned.
    private static final class Gate implements Subscriber {

        final List<Long> got = new ArrayList<>();
        private final AtomicInteger calls = new AtomicInteger();
        private final AtomicInteger ends = new AtomicInteger();
        private volatile boolean ready;
        private volatile Subscription subscription;

        Gate(boolean ready) {
            this.ready = ready;
        }

        Subscription subscribe(Fanout feed) {
            subscription = feed.subscribe(this);
            return subscription;
        }

        void turn() {
            ready = !ready;
            subscription.proceed();
        }

        void open() {
            ready = true;
            subscription.proceed();
        }

        @Override
        public boolean isReady() {
            return ready;
        }

        @Override
        public void send(SealedBuffer message) {
            enter();
            synchronized (got) {
                got.add(BufferReader.of(message).getLong());
            }
            calls.decrementAndGet();
        }

        @Override
        public void close(End why) {
            enter();
            ends.incrementAndGet();
            calls.decrementAndGet();
        }

        private void enter() {
            if (calls.incrementAndGet() != 1 || ends.get() > 0) {
                throw new AssertionError("called by two threads, or behind its end: " + subscription);
            }
        }

        void checkAgainst(Gate witness, SlowPolicy policy, boolean atTheEnd) {
            Map<Long, Integer> places = new HashMap<>();
            synchronized (witness.got) {
                witness.got.forEach(number -> places.put(number, places.size()));
            }
            List<Integer> mine;
            synchronized (got) {
                mine = got.stream().map(places::get).toList();
            }
            assertEquals(mine.size(), mine.stream().distinct().count());
            for (int i = 1; i < mine.size() && policy != SlowPolicy.CONFLATE; i++) {
                int step = mine.get(i) - mine.get(i - 1);
                boolean gapless = policy == SlowPolicy.WAIT || policy == SlowPolicy.DISCONNECT;
                assertTrue(gapless ? step == 1 : step > 0, () -> "order: " + mine);
            }
            if (atTheEnd && subscription.why() instanceof End.Completed && policy != SlowPolicy.CONFLATE) {
                assertEquals(places.size() - 1, mine.getLast());
            }
            if (policy == SlowPolicy.WAIT && atTheEnd) {
                assertEquals(places.size(), mine.size());
            }
        }
    }
}
