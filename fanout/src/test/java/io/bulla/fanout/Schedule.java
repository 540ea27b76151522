// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import io.bulla.buffer.BufferReader;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseTally;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/// One run of topics and their subscribers: publishers, transports and programs take their steps in an order that a
/// seed chooses, within each other's calls too. One thread does it all, so that the same seed does the same.
///
/// The first subscriber follows all topics, is always ready and never leaves: what it got is the order of publishing.
final class Schedule {

    private static final int TOPICS = 4;
    private static final int MOST_MESSAGES = 300;
    private static final int BOUND = 3;
    private static final int DEEPEST = 3;

    private final SlowPolicy policy;
    private final SplittableRandom random;
    private final MemorySource memory;
    private final LeaseTally handles;
    private final Topics<Long> topics;
    private final List<Party> parties = new ArrayList<>();
    private final Party witness;
    private int published;
    private int depth;

    Schedule(SlowPolicy policy, SplittableRandom random, MemorySource memory) {
        this.policy = policy;
        this.random = random;
        this.memory = memory;
        this.handles = (LeaseTally) memory.trace();
        this.topics = Fanout.builder()
                .slow(policy)
                .queueMessages(BOUND)
                .patience(Duration.ZERO)
                .topics();
        this.witness = new Party(Set.of(0L, 1L, 2L, 3L));
        witness.ready = true;
        witness.faultless = true;
        witness.begin();
    }

    void run(int steps) {
        for (int i = 0; i < steps; i++) {
            step();
            check(handles.open() == topics.queued(), "a handle for each message that waits");
            check(parties.stream().noneMatch(Party::isForgotten), "no message waits for a transport that is ready");
        }
        depth = DEEPEST;
        for (Party one : parties) {
            one.ready = true;
            one.subscription.proceed();
        }
        topics.complete();
        check(handles.open() == 0, "no handle is open at the end");
        check(topics.topics() == 0 && topics.figures().subscribers() == 0, "no subscriber is left");
        parties.forEach(Party::check);
        FanoutFigures figures = topics.figures();
        long sent = witness.subscription.sent();
        long dropped = 0;
        for (Party one : parties) {
            sent += one.subscription.sent();
            dropped += one.subscription.dropped();
        }
        check(figures.sent() == sent && figures.droppedMessages() == dropped, "figures are the sums");
        check(figures.published() == witness.got.size(), "all that is published is sent to those who are ready");
    }

    private void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError("not so: " + what + ": open=" + handles.open() + " " + topics);
        }
    }

    private void step() {
        switch (random.nextInt(12)) {
            case 0, 1, 2, 3 -> publish();
            case 4 -> subscribe();
            case 5, 6, 7 ->
                any(one -> {
                    one.ready = !one.ready;
                    if (one.ready) {
                        one.subscription.proceed();
                    }
                });
            case 8 -> any(one -> one.subscription.proceed());
            case 9 -> any(one -> one.fails = !one.faultless && random.nextInt(4) == 0);
            case 10 ->
                any(one -> {
                    if (random.nextInt(3) == 0) {
                        one.subscription.leave();
                    }
                });
            default ->
                any(one -> {
                    if (random.nextInt(4) == 0) {
                        one.completedAt = Math.min(one.completedAt, witness.got.size());
                        one.subscription.complete();
                    }
                });
        }
    }

    private void publish() {
        if (published == MOST_MESSAGES) {
            return;
        }
        long number = published++;
        long topic = number % TOPICS;
        try (SealedBuffer message = Line.message(memory, number, 8)) {
            topics.publish(topic, message);
        } catch (InterruptedException failure) {
            throw new AssertionError(failure);
        }
    }

    private void subscribe() {
        if (parties.size() < 40) {
            Set<Long> followed = new HashSet<>();
            for (long topic = 0; topic < TOPICS; topic++) {
                if (random.nextInt(3) > 0) {
                    followed.add(topic);
                }
            }
            Party one = new Party(followed);
            one.ready = random.nextBoolean();
            one.begin();
            parties.add(one);
        }
    }

    private void any(Consumer<Party> step) {
        if (!parties.isEmpty()) {
            step.accept(parties.get(random.nextInt(parties.size())));
        }
    }

    /// What other threads do while a transport is called.
    private void meanwhile() {
        if (depth < DEEPEST && random.nextInt(6) == 0) {
            depth++;
            try {
                step();
            } finally {
                depth--;
            }
        }
    }

    private final class Party implements Subscriber {

        final Set<Long> followed;
        final List<Long> got = new ArrayList<>();
        Subscription subscription;
        boolean ready;
        boolean fails;
        boolean faultless;
        int ends;
        int completedAt = Integer.MAX_VALUE;
        private int begunAt;
        private boolean called;

        Party(Set<Long> followed) {
            this.followed = followed;
        }

        void begin() {
            begunAt = witness == null ? 0 : witness.got.size();
            subscription = topics.subscribe(this, followed);
        }

        @Override
        public boolean isReady() {
            enter();
            boolean answer = ready;
            meanwhile();
            called = false;
            return answer;
        }

        @Override
        public void send(SealedBuffer message) {
            enter();
            got.add(BufferReader.of(message).getLong());
            meanwhile();
            called = false;
            if (fails) {
                throw new IllegalStateException("planted");
            }
        }

        @Override
        public void close(End why) {
            enter();
            ends++;
            meanwhile();
            called = false;
        }

        boolean isForgotten() {
            return ready && subscription.isOpen() && subscription.queued() > 0;
        }

        private void enter() {
            if (called || ends > 0) {
                throw new AssertionError("called within a call of its own, or behind its end: " + subscription);
            }
            called = true;
        }

        /// Against the order of publishing.
        void check() {
            List<Long> order = witness.got.stream()
                    .filter(one -> followed.contains(one % TOPICS))
                    .toList();
            List<Integer> places = got.stream().map(order::indexOf).toList();
            is(!places.contains(-1) && Set.copyOf(places).size() == places.size(), "each at most once");
            is(ends == (subscription.why() instanceof End.Left ? 0 : 1), "one end");
            boolean toTheEnd = completedAt == Integer.MAX_VALUE && subscription.why() instanceof End.Completed;
            switch (policy) {
                case CONFLATE -> conflated(order, toTheEnd);
                case DROP_OLDEST, LATEST_ONLY -> {
                    is(isSorted(places), "in order");
                    is(!toTheEnd || tail(order).isEmpty() || got.containsAll(newest(tail(order))), "the newest");
                }
                case DISCONNECT, WAIT -> {
                    is(isSorted(places) && isWithoutGap(places), "in order and without a gap");
                    is(!toTheEnd || got.containsAll(tail(order)), "all up to the end");
                    is(got.isEmpty() || places.getFirst() <= begun() + 1, "from its begin on");
                }
            }
        }

        private void conflated(List<Long> order, boolean toTheEnd) {
            for (long topic : followed) {
                List<Long> mine =
                        got.stream().filter(one -> one % TOPICS == topic).toList();
                is(isSorted(mine.stream().map(order::indexOf).toList()), "in order for each key");
                List<Long> all = tail(order).stream()
                        .filter(one -> one % TOPICS == topic)
                        .toList();
                is(!toTheEnd || all.isEmpty() || all.getLast().equals(mine.getLast()), "the last of each key");
            }
        }

        /// Where it began in the order of the topics that it follows.
        private int begun() {
            return (int) witness.got.subList(0, begunAt).stream()
                    .filter(one -> followed.contains(one % TOPICS))
                    .count();
        }

        /// What was published after its begin, without the one that was perhaps under way then.
        private List<Long> tail(List<Long> order) {
            return order.subList(Math.min(begun() + 1, order.size()), order.size());
        }

        private List<Long> newest(List<Long> tail) {
            return tail.subList(Math.max(0, tail.size() - 1), tail.size());
        }

        private void is(boolean holds, String what) {
            if (!holds) {
                throw new AssertionError("not so: " + what + ": got=" + got + " of=" + witness.got + " begunAt="
                        + begunAt + " followed=" + followed + " why=" + subscription.why() + " " + subscription);
            }
        }
    }

    private static boolean isSorted(List<Integer> places) {
        return places.equals(places.stream().sorted().toList());
    }

    private static boolean isWithoutGap(List<Integer> places) {
        return places.isEmpty() || places.getLast() - places.getFirst() == places.size() - 1;
    }
}
