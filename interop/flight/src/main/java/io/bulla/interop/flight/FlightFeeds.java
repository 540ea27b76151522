// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.flight;

import io.bulla.buffer.MemorySource;
import io.bulla.interop.grpc.Broadcast;
import io.bulla.interop.grpc.SealedMarshaller;
import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.flight.impl.Flight;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.message.IpcOption;
import org.jspecify.annotations.Nullable;

/// Feeds beside the streams of a Flight service.
///
/// ```java
/// FlightFeeds feeds = FlightFeeds.of(allocator, memory);
/// FlightFeed prices = feeds.open(root, Broadcast.builder().slow(SlowPolicy.DROP_OLDEST));
/// BindableService flight = FlightGrpcUtils.createFlightService(allocator, producer, ServerAuthHandler.NO_OP,
/// executor);
/// server.addService(feeds.serve(flight, ticket -> ticket.equals(PRICES) ? prices : null));
/// // as often as there is something new in the root
/// prices.publish();
/// ```
///
/// Any number of threads may use it at once.
public final class FlightFeeds {

    private final BufferAllocator allocator;
    private final SealedMarshaller sealed;

    private FlightFeeds(BufferAllocator allocator, SealedMarshaller sealed) {
        this.allocator = allocator;
        this.sealed = sealed;
    }

    /// Feeds whose messages are in the memory of one source.
    ///
    /// @param allocator for Flight's side of a feed, such as the dictionaries of its first messages
    /// @param memory where packed batches get their memory
    /// @return without a feed
    public static FlightFeeds of(BufferAllocator allocator, MemorySource memory) {
        return new FlightFeeds(Objects.requireNonNull(allocator, "allocator"), SealedMarshaller.of(memory));
    }

    /// Opens a feed of batches without dictionaries.
    ///
    /// @param root what the batches are taken from, which stays the caller's; its schema is sent first
    /// @param clients bounds and policy for the clients; its first messages are set here
    /// @return without a client
    /// @throws RuntimeException as Flight does for a schema that it cannot write
    /// @throws IllegalStateException if the source has no more memory
    public FlightFeed open(VectorSchemaRoot root, Broadcast.Builder clients) {
        return open(root, null, IpcOption.DEFAULT, clients);
    }

    /// Opens a feed.
    ///
    /// @param root what the batches are taken from, which stays the caller's; its schema is sent first
    /// @param dictionaries sent behind the schema, as they are now; or `null`
    /// @param option Arrow's format
    /// @param clients bounds and policy for the clients; its first messages are set here
    /// @return without a client
    /// @throws RuntimeException as Flight does for a schema that it cannot write
    /// @throws IllegalStateException if the source has no more memory
    public FlightFeed open(
            VectorSchemaRoot root,
            @Nullable DictionaryProvider dictionaries,
            IpcOption option,
            Broadcast.Builder clients) {
        return FlightFeed.open(new Recording(allocator, sealed), root, dictionaries, option, clients);
    }

    /// The service, with feeds for some of the tickets. All else is served by the service as before.
    ///
    /// @param flight as `FlightGrpcUtils.createFlightService` makes it
    /// @param feeds asked on gRPC's threads for each `DoGet`: the feed of a ticket, or `null` for a stream of the
    ///     service's own
    /// @return for a gRPC server
    /// @throws IllegalArgumentException if the service has no `DoGet`
    public ServerServiceDefinition serve(BindableService flight, Function<Ticket, @Nullable FlightFeed> feeds) {
        ServerServiceDefinition before = flight.bindService();
        @Nullable ServerMethodDefinition<?, ?> doGet = before.getMethod(Recording.DO_GET);
        if (doGet == null) {
            throw new IllegalArgumentException("no Flight service: name="
                    + before.getServiceDescriptor().getName() + " missing=" + Recording.DO_GET);
        }
        return replaced(before, doGet, shared(doGet, feeds));
    }

    private <Q, R> ServerMethodDefinition<Q, Object> shared(
            ServerMethodDefinition<Q, R> own, Function<Ticket, @Nullable FlightFeed> feeds) {
        MethodDescriptor<Q, R> method = own.getMethodDescriptor();
        ServerCallHandler<Q, Object> handler = Chosen.by(request -> {
            @Nullable FlightFeed feed = feeds.apply(ticket(request));
            return feed == null ? objects(own.getServerCallHandler()) : objects(feed.handler());
        });
        return ServerMethodDefinition.create(
                method.toBuilder(method.getRequestMarshaller(), new Either<>(method.getResponseMarshaller(), sealed))
                        .build(),
                handler);
    }

    private static Ticket ticket(Object request) {
        return new Ticket(((Flight.Ticket) request).getTicket().toByteArray());
    }

    /// The same handler: what it sends is an `Object` to the marshaller, which tells the two kinds apart.
    @SuppressWarnings("unchecked")
    private static <Q> ServerCallHandler<Q, Object> objects(ServerCallHandler<Q, ?> handler) {
        return (ServerCallHandler<Q, Object>) handler;
    }

    private static ServerServiceDefinition replaced(
            ServerServiceDefinition service, ServerMethodDefinition<?, ?> before, ServerMethodDefinition<?, ?> after) {
        List<ServerMethodDefinition<?, ?>> methods = new ArrayList<>();
        ServiceDescriptor.Builder descriptor = ServiceDescriptor.newBuilder(
                        service.getServiceDescriptor().getName())
                .setSchemaDescriptor(service.getServiceDescriptor().getSchemaDescriptor());
        for (ServerMethodDefinition<?, ?> method : service.getMethods()) {
            methods.add(method == before ? after : method);
            descriptor.addMethod(methods.getLast().getMethodDescriptor());
        }
        ServerServiceDefinition.Builder definition = ServerServiceDefinition.builder(descriptor.build());
        methods.forEach(definition::addMethod);
        return definition.build();
    }

    @Override
    public String toString() {
        return "FlightFeeds[" + allocator.getName() + "]";
    }
}
