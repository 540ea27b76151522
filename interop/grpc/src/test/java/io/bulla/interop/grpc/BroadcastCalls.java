// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.Fanout;
import io.bulla.fanout.Subscriber;
import io.bulla.fanout.Subscription;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultCatalogue.Member;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/// How a [Broadcast] and its streams are called: with observers that may fail or call back.
final class BroadcastCalls {

    private BroadcastCalls() {}

    static FaultCatalogue in(FaultCatalogue all) {
        for (boolean ready : new boolean[] {true, false}) {
            all.around("Broadcast.publish(SealedBuffer)", publish -> way(ready, true, world -> world.publish(publish)));
            all.around(
                    "Broadcast.subscribe(ServerCallStreamObserver)",
                    subscribe -> way(ready, false, world -> {
                        Subscription stream = (Subscription) subscribe.on(world.feed, world.observers.getFirst());
                        world.publish();
                        return stream.sent() + stream.queued();
                    }));
            for (String end : List.of("close()", "complete()")) {
                all.around(
                        "Broadcast." + end, over -> way(ready, true, world -> world.ended(() -> over.on(world.feed))));
            }
            all.around(
                    "Broadcast.subscribe(ServerCallStreamObserver, Function)",
                    subscribe -> way(ready, false, world -> {
                        Function<Subscriber, Subscription> other = world.other::subscribe;
                        Subscription stream = (Subscription) subscribe.on(null, world.observers.getFirst(), other);
                        world.other.publish(world.messages.getFirst());
                        return stream.sent() + stream.queued();
                    }));
        }
        all.around("Broadcast.asHandler()", BroadcastCalls::handler);
        for (String figure : List.of("figures()", "queued()", "toString()")) {
            all.around("Broadcast." + figure, asked -> way(false, true, world -> asked.on(world.feed)));
        }
        return all;
    }

    @FunctionalInterface
    private interface Use {
        Object on(World world) throws Exception;
    }

    @FunctionalInterface
    private interface End {
        Object run() throws Exception;
    }

    /// @param ready whether gRPC takes messages at once, or they wait
    private static Operation way(boolean ready, boolean subscribed, Use use) {
        return scene -> {
            scene.mayTake(16 << 20);
            // a send that fails ends its stream, and the next look finds one less
            scene.mayVary();
            List<SealedBuffer> messages = List.of(scene.buffer(300), scene.buffer(20), scene.lastHandle());
            World world = new World(scene, messages, ready);
            if (subscribed) {
                world.subscribe();
            }
            scene.callBack("broadcast.close", () -> {
                world.over = true;
                world.feed.close();
            });
            scene.callBack("stream.end", () -> {
                if (!world.streams.isEmpty()) {
                    world.over = true;
                    world.streams.getFirst().end(new io.bulla.fanout.End.Failed(Status.ABORTED.asRuntimeException()));
                }
            });
            return () -> use.on(world);
        };
    }

    private static Operation handler(Member asHandler) {
        return scene -> {
            SealedMarshaller sealed = SealedMarshaller.of(scene.source());
            SealedBuffer message = scene.buffer(300);
            scene.mayVary();
            return () -> {
                try (Broadcast feed = Broadcast.builder().build()) {
                    @SuppressWarnings("unchecked")
                    ServerCallHandler<SealedBuffer, SealedBuffer> handler =
                            (ServerCallHandler<SealedBuffer, SealedBuffer>) asHandler.on(feed);
                    FaultyServerCall call = new FaultyServerCall(scene.points(), sealed);
                    ServerCall.Listener<SealedBuffer> listener = handler.startCall(call, new Metadata());
                    try {
                        listener.onMessage(message.share());
                        listener.onReady();
                        feed.publish(message);
                        return call.sent;
                    } finally {
                        listener.onCancel();
                    }
                }
            };
        };
    }

    /// A broadcast with two streams.
    private static final class World implements AutoCloseable {

        final Broadcast feed;
        final Fanout other = Fanout.builder().build();
        final List<Observer> observers;
        final List<Subscription> streams = new ArrayList<>();
        boolean over;
        private final List<SealedBuffer> messages;

        World(FaultScene scene, List<SealedBuffer> messages, boolean ready) {
            this.messages = messages;
            SealedMarshaller sealed = SealedMarshaller.of(scene.source());
            observers =
                    List.of(new Observer(scene.points(), sealed, ready), new Observer(scene.points(), sealed, ready));
            feed = Broadcast.builder()
                    .first(messages.subList(0, 2))
                    .queueMessages(4)
                    .build();
            scene.own(this);
        }

        void subscribe() throws InterruptedException {
            for (Observer observer : observers) {
                streams.add(feed.subscribe(observer));
            }
            publish();
        }

        void publish() throws InterruptedException {
            for (SealedBuffer message : messages) {
                feed.publish(message);
            }
        }

        /// The other stream gets each message, or its end.
        Object publish(Member publish) throws Exception {
            SealedBuffer message = messages.getFirst();
            int before = feed.figures().subscribers();
            try {
                return publish.on(feed, message);
            } finally {
                for (int i = 0; i < 2 && !over; i++) {
                    check(observers.get(i), streams.get(i), before);
                }
            }
        }

        private void check(Observer observer, Subscription stream, int before) {
            if (stream.isOpen() && observer.ready && stream.queued() > 0) {
                throw new AssertionError("a message waits for nothing: streams=" + before + " " + stream);
            }
            if (!stream.isOpen() && observer.ends == 0) {
                throw new AssertionError("a stream is over and its call is not: " + stream);
            }
        }

        /// Each call is closed, also if what belongs to another one fails.
        Object ended(End end) throws Exception {
            try {
                return end.run();
            } finally {
                for (Observer observer : observers) {
                    if (observer.ready && observer.ends == 0) {
                        throw new AssertionError("a call is not closed: got=" + observer.got);
                    }
                }
            }
        }

        @Override
        public void close() {
            feed.close();
            other.close();
            // as gRPC: what is cancelled is told
            observers.forEach(Observer::cancelled);
        }
    }

    /// Reads what it is given, as gRPC does.
    private static final class Observer extends ServerCallStreamObserver<SealedBuffer> {

        private final FaultPoints points;
        private final SealedMarshaller sealed;
        final boolean ready;
        private Runnable onCancel = () -> {};
        int got;
        int ends;

        Observer(FaultPoints points, SealedMarshaller sealed, boolean ready) {
            this.points = points;
            this.sealed = sealed;
            this.ready = ready;
        }

        void cancelled() {
            onCancel.run();
        }

        @Override
        public boolean isReady() {
            points.reach("ServerCallStreamObserver.isReady");
            return ready;
        }

        @Override
        public void onNext(SealedBuffer message) {
            points.reach("ServerCallStreamObserver.onNext");
            try (InputStream stream = sealed.stream(message)) {
                stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            got++;
            points.reach("ServerCallStreamObserver.onNext, done");
        }

        @Override
        public void onError(Throwable status) {
            ends++;
            points.reach("ServerCallStreamObserver.onError, done");
        }

        @Override
        public void onCompleted() {
            ends++;
            points.reach("ServerCallStreamObserver.onCompleted, done");
        }

        @Override
        public void setOnCancelHandler(Runnable handler) {
            points.reach("ServerCallStreamObserver.setOnCancelHandler");
            onCancel = handler;
        }

        @Override
        public void setOnCloseHandler(Runnable handler) {
            points.reach("ServerCallStreamObserver.setOnCloseHandler");
        }

        @Override
        public void setOnReadyHandler(Runnable handler) {
            points.reach("ServerCallStreamObserver.setOnReadyHandler");
        }

        @Override
        public boolean isCancelled() {
            return false;
        }

        @Override
        public void setCompression(String compression) {}

        @Override
        public void setMessageCompression(boolean enable) {}

        @Override
        public void disableAutoInboundFlowControl() {}

        @Override
        public void request(int count) {}
    }
}
