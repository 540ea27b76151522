// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.flight;

import io.bulla.buffer.MemorySource;
import io.bulla.interop.grpc.Broadcast;
import io.bulla.refcount.LeaseTally;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.arrow.flight.CallStatus;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightGrpcUtils;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.NoOpFlightProducer;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/// A Flight server on loopback with a feed, a stream of its producer's own beside it, and a Flight client.
final class Ends implements AutoCloseable {

    static final Ticket SHARED = new Ticket("shared".getBytes(StandardCharsets.UTF_8));
    static final Ticket OWN = new Ticket("own".getBytes(StandardCharsets.UTF_8));

    private final MemorySource handles;
    private final List<FlightStream> streams = new ArrayList<>();
    final RootAllocator allocator = new RootAllocator();
    final Batches batches;
    final FlightFeed feed;
    final Server server;
    final ManagedChannel channel;
    final FlightClient client;

    Ends(MemorySource memory, Broadcast.Builder clients) throws Exception {
        this(memory, memory, clients);
    }

    @SuppressWarnings("deprecation") // none shakes hands
    Ends(MemorySource handles, MemorySource memory, Broadcast.Builder clients) throws Exception {
        this.handles = handles;
        batches = new Batches(allocator);
        FlightFeeds feeds = FlightFeeds.of(allocator, memory);
        feed = feeds.open(batches.root, batches, org.apache.arrow.vector.ipc.message.IpcOption.DEFAULT, clients);
        server = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
                .addService(feeds.serve(
                        FlightGrpcUtils.createFlightService(allocator, new Producer(), null, null),
                        ticket -> ticket.equals(SHARED) ? feed : null))
                .build()
                .start();
        channel = Grpc.newChannelBuilder("localhost:" + server.getPort(), InsecureChannelCredentials.create())
                .build();
        client = FlightGrpcUtils.createFlightClientWithSharedChannel(allocator, channel);
    }

    /// A client of the feed, which the server knows when this returns.
    FlightStream subscribe() throws InterruptedException {
        int before = feed.figures().subscribers();
        FlightStream stream = get(SHARED);
        await(() -> feed.figures().subscribers() == before + 1);
        return stream;
    }

    /// @return closed with these ends
    FlightStream get(Ticket ticket) {
        FlightStream stream = client.getStream(ticket);
        streams.add(stream);
        return stream;
    }

    static void await(BooleanSupplier fact) throws InterruptedException {
        long until = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        while (!fact.getAsBoolean()) {
            if (System.nanoTime() > until) {
                throw new AssertionError("not within a minute");
            }
            Thread.sleep(1);
        }
    }

    /// Arrow's allocator fails here for each buffer that is not given back.
    @Override
    public void close() {
        try {
            end();
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    private void end() throws Exception {
        feed.close();
        for (FlightStream stream : streams) {
            stream.close();
        }
        client.close();
        channel.shutdownNow().awaitTermination(1, TimeUnit.MINUTES);
        server.shutdownNow().awaitTermination(1, TimeUnit.MINUTES);
        batches.close();
        LeaseTally open = (LeaseTally) handles.trace();
        await(() -> open.open() == 0);
        allocator.close();
    }

    /// Writes the same three batches by Flight alone.
    private final class Producer extends NoOpFlightProducer {

        @Override
        public void getStream(CallContext context, Ticket ticket, ServerStreamListener listener) {
            if (!ticket.equals(OWN)) {
                throw CallStatus.NOT_FOUND.withDescription("no such ticket").toRuntimeException();
            }
            VectorSchemaRoot root = batches.root;
            listener.start(root, batches);
            for (int i = 0; i < 3; i++) {
                batches.fill(i, 10 * i);
                listener.putNext(batches.metadata(i));
            }
            listener.completed();
        }
    }
}
