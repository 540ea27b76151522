// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.embedding;

import com.google.protobuf.ListValue;
import io.bulla.bench.embedding.Embedding.Way;
import io.bulla.buffer.ArenaSource;
import io.bulla.fanout.SlowPolicy;
import io.bulla.interop.flight.FlightFeed;
import io.bulla.interop.flight.FlightFeeds;
import io.bulla.interop.grpc.Broadcast;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.arrow.flight.FlightGrpcUtils;
import org.apache.arrow.flight.NoOpFlightProducer;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/// A record batch from a Flight server to many streams over loopback: by a producer that puts it into each, and by a
/// feed.
final class FlightServer implements Embedding.Layer {

    private static final int STREAMS = 50;
    // reports each stream that its client left
    private static final Logger GRPC = Logger.getLogger("io.grpc");
    private static final Ticket FEED = new Ticket("feed".getBytes(StandardCharsets.UTF_8));

    private final RootAllocator allocator = new RootAllocator();
    private final List<NoOpFlightProducer.ServerStreamListener> producers = new CopyOnWriteArrayList<>();
    private final Map<String, Way> ways = new LinkedHashMap<>();
    private final VectorSchemaRoot root;
    private final FlightFeed feed;
    private final Server server;
    private final FlightSubscribers subscribers;

    FlightServer(ArenaSource memory, ListValue message) throws Exception {
        root = FlightStreams.root(allocator, message.getSerializedSize());
        FlightFeeds feeds = FlightFeeds.of(allocator, memory);
        feed = feeds.open(root, Broadcast.builder().slow(SlowPolicy.WAIT).queueMessages(1));
        server = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
                .addService(feeds.serve(
                        FlightGrpcUtils.createFlightService(allocator, new Producer(), null, null),
                        ticket -> ticket.equals(FEED) ? feed : null))
                .build()
                .start();
        subscribers = new FlightSubscribers(server.getPort(), STREAMS, "own", "feed");
        while (producers.size() < STREAMS || feed.figures().subscribers() < STREAMS) {
            Thread.sleep(1);
        }
        ways.put("as-it-is", () -> {
            for (NoOpFlightProducer.ServerStreamListener producer : producers) {
                while (!producer.isReady()) {
                    LockSupport.parkNanos(50_000);
                }
                producer.putNext();
            }
        });
        ways.put("feed", feed::publish);
    }

    @Override
    public Map<String, Way> ways() {
        return ways;
    }

    @Override
    public int receivers() {
        return STREAMS;
    }

    @Override
    public void close() throws Exception {
        GRPC.setLevel(Level.OFF);
        feed.close();
        subscribers.close();
        server.shutdownNow().awaitTermination();
        root.close();
        allocator.close();
    }

    private final class Producer extends NoOpFlightProducer {

        @Override
        public void getStream(CallContext context, Ticket ticket, ServerStreamListener listener) {
            listener.start(root);
            producers.add(listener);
        }
    }
}
