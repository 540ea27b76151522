// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultCatalogue.Member;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/// How the operations of `fanout` are called: with transports that may fail or call back, handles whose listeners
/// may, and each policy.
final class FanoutCalls {

    private static final Map<Class<?>, Function<FaultScene, Object>> VALUES = new HashMap<>();

    static {
        VALUES.put(int.class, scene -> 2);
        VALUES.put(long.class, scene -> 2L);
        VALUES.put(Object.class, scene -> "another");
        VALUES.put(Throwable.class, scene -> new IllegalStateException("given"));
        VALUES.put(Duration.class, scene -> Duration.ofMinutes(1));
        VALUES.put(SlowPolicy.class, scene -> SlowPolicy.CONFLATE);
        VALUES.put(List.class, scene -> List.of(scene.buffer(30)));
        VALUES.put(SealedBuffer.class, scene -> scene.buffer(300));
        VALUES.put(End.class, scene -> End.COMPLETED);
        VALUES.put(End.Completed.class, scene -> End.COMPLETED);
        VALUES.put(End.Closed.class, scene -> End.CLOSED);
        VALUES.put(End.Left.class, scene -> End.LEFT);
        VALUES.put(End.TooSlow.class, scene -> new End.TooSlow(1, 2));
        VALUES.put(End.Failed.class, scene -> new End.Failed(new IllegalStateException("given")));
        VALUES.put(FanoutFigures.class, scene -> new FanoutFigures(1, 2, 3, 4, 5, 6, 7));
    }

    private FanoutCalls() {}

    static FaultCatalogue all() {
        FaultCatalogue all = new FaultCatalogue("fanout", Fanout.class)
                .values(VALUES::get)
                .records(VALUES::get)
                .receiver(Fanout.Builder.class, scene -> Fanout.builder())
                .receiver(Subscriber.class, scene -> new Transport(scene.points(), true));
        all.on("SlowPolicy.valueOf(String)", scene -> FaultCall.on(null, "WAIT"));
        for (String made : List.of("build()", "topics()")) {
            all.on(
                    "Fanout.Builder." + made,
                    scene -> FaultCall.on(Fanout.builder().first(List.of(scene.buffer(30), scene.lastHandle()))));
        }
        for (SlowPolicy policy : SlowPolicy.values()) {
            for (boolean ready : new boolean[] {true, false}) {
                fanout(all, policy, ready);
                topics(all, policy, ready);
                subscription(all, policy, ready);
            }
        }
        for (String figure : List.of("figures()", "queued()", "toString()")) {
            all.around("Fanout." + figure, asked -> way(SlowPolicy.WAIT, false, true, world -> asked.on(world.feed)));
            all.around("Topics." + figure, asked -> way(SlowPolicy.WAIT, false, true, world -> asked.on(world.topics)));
        }
        all.around("Topics.topics()", asked -> way(SlowPolicy.WAIT, false, true, world -> asked.on(world.topics)));
        for (String figure :
                List.of("isOpen()", "why()", "queued()", "queuedBytes()", "sent()", "dropped()", "toString()")) {
            all.around(
                    "Subscription." + figure,
                    asked -> way(SlowPolicy.WAIT, false, true, world -> asked.on(world.all.getFirst())));
        }
        return all;
    }

    private static void fanout(FaultCatalogue all, SlowPolicy policy, boolean ready) {
        all.around(
                "Fanout.publish(SealedBuffer)",
                publish -> way(policy, ready, true, world -> publish.on(world.feed, world.messages.getFirst())));
        all.around(
                "Fanout.publish(Object, SealedBuffer)",
                publish -> way(policy, ready, true, world -> publish.on(world.feed, "a", world.messages.getFirst())));
        all.around(
                "Fanout.subscribe(Subscriber)",
                subscribe -> way(policy, ready, false, world -> {
                    Subscription one = (Subscription) subscribe.on(world.feed, world.transports.getFirst());
                    world.publish();
                    return one.sent() + one.queued();
                }));
        for (String end : List.of("close()", "complete()")) {
            all.around("Fanout." + end, over -> way(policy, ready, true, world -> world.ended(over, world.feed)));
        }
    }

    private static void topics(FaultCatalogue all, SlowPolicy policy, boolean ready) {
        all.around(
                "Topics.publish(Object, SealedBuffer)",
                publish -> way(policy, ready, true, world -> publish.on(world.topics, "a", world.messages.getFirst())));
        all.around(
                "Topics.subscribe(Subscriber, Collection)",
                subscribe -> way(policy, ready, false, world -> {
                    Subscription one = (Subscription)
                            subscribe.on(world.topics, world.transports.getFirst(), List.of("a", "b", "a"));
                    world.publish();
                    return one.sent() + one.queued();
                }));
        for (String change : List.of("follow", "unfollow")) {
            all.around(
                    "Topics." + change + "(Subscription, Object)",
                    changed -> way(policy, ready, true, world -> {
                        Object answer = changed.on(world.topics, world.all.get(2), "a");
                        world.publish();
                        return answer;
                    }));
        }
        for (String end : List.of("close()", "complete()")) {
            all.around("Topics." + end, over -> way(policy, ready, true, world -> over.on(world.topics)));
        }
    }

    private static void subscription(FaultCatalogue all, SlowPolicy policy, boolean ready) {
        for (String end : List.of("complete()", "leave()")) {
            all.around("Subscription." + end, over -> way(policy, ready, true, world -> over.on(world.all.getFirst())));
        }
        all.around(
                "Subscription.end(End)",
                over -> way(policy, ready, true, world -> over.on(world.all.getFirst(), End.CLOSED)));
        all.around(
                "Subscription.proceed()",
                proceed -> way(policy, ready, true, world -> {
                    world.transports.getFirst().ready = true;
                    return proceed.on(world.all.getFirst());
                }));
    }

    @FunctionalInterface
    private interface Use {
        Object on(World world) throws Exception;
    }

    /// @param ready whether transports take messages at once, or they wait
    private static Operation way(SlowPolicy policy, boolean ready, boolean subscribed, Use use) {
        return scene -> {
            scene.mayTake(16 << 20);
            // a send that fails ends its subscription, and the next look finds one less
            scene.mayVary();
            World world = new World(scene, policy, ready);
            if (subscribed) {
                world.subscribe();
            }
            callBacks(scene, world);
            return () -> {
                try {
                    return use.on(world);
                } finally {
                    world.check();
                }
            };
        };
    }

    private static void callBacks(FaultScene scene, World world) {
        scene.callBack("fanout.close", () -> {
            world.feed.close();
            world.topics.close();
        });
        scene.callBack("subscription.end", () -> world.all.forEach(one -> one.end(End.CLOSED)));
        scene.callBack("subscription.leave", () -> {
            world.left = true;
            world.all.forEach(Subscription::leave);
        });
        scene.callBack("subscription.proceed", () -> world.all.forEach(Subscription::proceed));
        scene.callBack("fanout.publish", () -> {
            try {
                world.publish();
            } catch (InterruptedException failure) {
                throw new AssertionError(failure);
            }
        });
        scene.callBack("fanout.subscribe", () -> {
            world.feed.subscribe(new Transport(scene.points(), true));
            world.topics.subscribe(new Transport(scene.points(), true), List.of("a"));
        });
    }

    /// A fan-out with two subscribers, and topics with two.
    private static final class World implements AutoCloseable {

        final List<SealedBuffer> messages;
        final List<Transport> transports = new ArrayList<>();
        final List<Subscription> all = new ArrayList<>();
        final Fanout feed;
        final Topics<String> topics;
        boolean left;

        World(FaultScene scene, SlowPolicy policy, boolean ready) {
            messages = List.of(scene.buffer(300), scene.buffer(20), scene.lastHandle());
            for (int i = 0; i < 4; i++) {
                transports.add(new Transport(scene.points(), ready));
            }
            Fanout.Builder settings = Fanout.builder()
                    .first(messages.subList(0, 2))
                    .slow(policy)
                    .patience(Duration.ZERO)
                    .queueMessages(4);
            feed = settings.build();
            try {
                topics = settings.topics();
            } catch (Throwable failure) {
                feed.close();
                throw failure;
            }
            scene.own(this);
        }

        void subscribe() throws InterruptedException {
            for (int i = 0; i < 2; i++) {
                all.add(feed.subscribe(transports.get(i)));
            }
            for (int i = 2; i < 4; i++) {
                all.add(topics.subscribe(transports.get(i), i == 2 ? List.of("a", "b") : List.of("a")));
            }
            publish();
        }

        void publish() throws InterruptedException {
            for (SealedBuffer message : messages) {
                feed.publish(message);
                topics.publish("a", message);
            }
        }

        /// A message waits for something, and a transport whose subscription has ended is closed.
        void check() {
            for (int i = 0; i < all.size() && !left; i++) {
                Subscription one = all.get(i);
                Transport transport = transports.get(i);
                if (one.isOpen() && transport.ready && one.queued() > 0 && transport.asked > 0) {
                    throw new AssertionError("a message waits for nothing: " + one);
                }
                if (!one.isOpen() && transport.ends == 0 && !(one.why() instanceof End.Left)) {
                    throw new AssertionError("a subscription is over and its transport is not: " + one);
                }
            }
        }

        /// Each transport is closed, also if what belongs to another one fails.
        Object ended(Member over, Fanout fanout) throws Exception {
            try {
                return over.on(fanout);
            } finally {
                for (int i = 0; i < 2; i++) {
                    if (transports.get(i).ready && transports.get(i).ends == 0 && !left) {
                        throw new AssertionError("a transport is not closed: " + all.get(i));
                    }
                }
            }
        }

        @Override
        public void close() {
            try {
                feed.close();
            } finally {
                topics.close();
            }
        }
    }

    private static final class Transport implements Subscriber {

        private final FaultPoints points;
        boolean ready;
        int asked;
        int ends;

        Transport(FaultPoints points, boolean ready) {
            this.points = points;
            this.ready = ready;
        }

        @Override
        public boolean isReady() {
            asked++;
            points.reach("Subscriber.isReady");
            return ready;
        }

        @Override
        public void send(SealedBuffer message) {
            points.reach("Subscriber.send");
            message.toByteArray();
            points.reach("Subscriber.send, done");
        }

        @Override
        public void close(End why) {
            ends++;
            points.reach("Subscriber.close, done");
        }
    }
}
