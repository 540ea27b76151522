// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.flight;

import io.bulla.buffer.MemorySource;
import io.bulla.interop.grpc.Broadcast;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultCatalogue.Member;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import io.grpc.BindableService;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.arrow.flight.FlightGrpcUtils;
import org.apache.arrow.flight.NoOpFlightProducer;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.flight.auth.ServerAuthHandler;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.message.IpcOption;

/// How the operations of `interop/flight` are called: with memory, dictionaries, services and calls that may fail or
/// call back.
final class FlightCalls {

    private static final String OPEN = "FlightFeeds.open(VectorSchemaRoot, ";
    private static final Map<Class<?>, Function<FaultScene, Object>> VALUES =
            Map.of(MemorySource.class, FaultScene::source, BufferAllocator.class, scene -> new World(scene).allocator);

    private FlightCalls() {}

    static FaultCatalogue all() {
        FaultCatalogue all = new FaultCatalogue("flight", FlightFeed.class)
                .values(VALUES::get)
                .receiver(FlightFeed.class, scene -> new World(scene).feed());
        all.on("FlightFeeds.toString()", scene -> FaultCall.on(new World(scene).feeds()));
        all.on(OPEN + "Broadcast.Builder)", scene -> {
            World world = new World(scene);
            return FaultCall.on(world.feeds(), world.plain(), Broadcast.builder());
        });
        all.on(OPEN + "DictionaryProvider, IpcOption, Broadcast.Builder)", scene -> {
            World world = new World(scene);
            return FaultCall.on(
                    world.feeds(),
                    world.batches.root,
                    foreign(scene.points(), org.apache.arrow.vector.dictionary.DictionaryProvider.class, world.batches),
                    IpcOption.DEFAULT,
                    Broadcast.builder());
        });
        all.on("FlightFeed.publish(ArrowBuf)", scene -> {
            World world = new World(scene);
            return FaultCall.with(world.feed(), same -> new Object[] {world.batches.metadata(1)});
        });
        return all.around("FlightFeeds.serve(BindableService, Function)", FlightCalls::serve);
    }

    /// A client of a shared feed: it asks, and gets schema, dictionary and one batch.
    private static Operation serve(Member serve) {
        return scene -> {
            World world = new World(scene);
            // a send that fails ends its stream
            scene.mayVary();
            FlightFeed feed = world.feed();
            FlightFeeds feeds = world.feeds();
            return () -> {
                BindableService flight = foreign(scene.points(), BindableService.class, world.service());
                Function<Ticket, FlightFeed> chosen = ticket -> {
                    scene.points().reach("Function.apply");
                    return feed;
                };
                ServerServiceDefinition served = (ServerServiceDefinition) serve.on(feeds, flight, chosen);
                return new Call<>(scene.points(), served.getMethod(Recording.DO_GET)).read(feed);
            };
        };
    }

    /// Each of its calls may fail.
    private static <T> T foreign(FaultPoints points, Class<T> type, T real) {
        return type.cast(Proxy.newProxyInstance(
                FlightCalls.class.getClassLoader(), new Class<?>[] {type}, (self, method, given) -> {
                    points.reach(type.getSimpleName() + "." + method.getName());
                    try {
                        return method.invoke(real, given);
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                }));
    }

    /// Batches and an allocator, all of which is given back.
    private static final class World {

        final RootAllocator allocator;
        final Batches batches;
        private final FaultScene scene;

        World(FaultScene scene) {
            this.scene = scene;
            scene.mayTake(64 << 20);
            allocator = new RootAllocator();
            batches = new Batches(allocator);
            batches.fill(1, 10);
            scene.owed("bytes of Arrow's", () -> {
                long left = allocator.getAllocatedMemory();
                if (left == 0) {
                    allocator.close();
                }
                return left;
            });
            scene.ownLast(batches);
        }

        /// Without dictionaries.
        VectorSchemaRoot plain() {
            BigIntVector numbers = new BigIntVector("numbers", allocator);
            numbers.setSafe(0, 1);
            VectorSchemaRoot root = new VectorSchemaRoot(List.of(numbers));
            root.setRowCount(1);
            return scene.own(root);
        }

        FlightFeeds feeds() {
            return FlightFeeds.of(allocator, scene.source());
        }

        FlightFeed feed() {
            FlightFeed feed = scene.own(feeds().open(batches.root, batches, IpcOption.DEFAULT, Broadcast.builder()));
            scene.callBack("feed.close", feed::close);
            scene.callBack("feed.figures", feed::figures);
            return feed;
        }

        @SuppressWarnings("deprecation") // the service asks for one
        BindableService service() {
            return FlightGrpcUtils.createFlightService(
                    allocator, new NoOpFlightProducer(), ServerAuthHandler.NO_OP, null);
        }
    }

    /// A call without a wire that may fail; it reads what is sent as gRPC does.
    private static final class Call<Q, R> extends ServerCall<Q, R> {

        private final FaultPoints points;
        private final ServerMethodDefinition<Q, R> method;
        private int sent;

        Call(FaultPoints points, ServerMethodDefinition<Q, R> method) {
            this.points = points;
            this.method = method;
        }

        int read(FlightFeed feed) throws InterruptedException {
            ServerCallHandler<Q, R> handler = method.getServerCallHandler();
            Listener<Q> listener = handler.startCall(this, new Metadata());
            try {
                listener.onMessage(getMethodDescriptor().parseRequest(new ByteArrayInputStream(new byte[0])));
                listener.onHalfClose();
                listener.onReady();
                feed.publish();
                return sent;
            } finally {
                listener.onCancel();
            }
        }

        @Override
        public void request(int messages) {
            points.reach("ServerCall.request");
        }

        @Override
        public void sendHeaders(Metadata headers) {
            points.reach("ServerCall.sendHeaders");
        }

        @Override
        public boolean isReady() {
            points.reach("ServerCall.isReady");
            return true;
        }

        @Override
        public void sendMessage(R message) {
            points.reach("ServerCall.sendMessage");
            try (InputStream stream = getMethodDescriptor().streamResponse(message)) {
                stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            sent++;
            points.reach("ServerCall.sendMessage, done");
        }

        @Override
        public void close(Status status, Metadata trailers) {
            points.reach("ServerCall.close");
        }

        @Override
        public boolean isCancelled() {
            return false;
        }

        @Override
        public MethodDescriptor<Q, R> getMethodDescriptor() {
            return method.getMethodDescriptor();
        }
    }
}
