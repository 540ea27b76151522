// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.flight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.bulla.buffer.MemorySource;
import io.bulla.fanout.SlowPolicy;
import io.bulla.interop.grpc.Broadcast;
import io.bulla.testkit.NoOpenHandles;
import io.bulla.testkit.StingySource;
import io.grpc.BindableService;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.FlightStatusCode;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.flight.impl.Flight;
import org.apache.arrow.flight.impl.FlightServiceGrpc;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Arrow's own clients on loopback, and Arrow's own server beside the feed.
@ExtendWith(NoOpenHandles.class)
class FlightFeedTest {

    private static final int LARGE = 20_000;

    @AfterAll
    static void nettyLeaksNothing() throws InterruptedException {
        assertEquals(List.of(), LeakRecorder.reports(5));
    }

    @Test
    void everyClientReadsEveryBatchInOrder(MemorySource memory) throws Exception {
        try (Ends ends = new Ends(memory, Broadcast.builder())) {
            List<FlightStream> clients = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                clients.add(ends.subscribe());
            }
            for (int i = 0; i < 20; i++) {
                assertEquals(5, publish(ends, i, i * 50));
            }
            ends.feed.complete();
            for (FlightStream client : clients) {
                assertEquals(numbers(0, 20), rest(client));
            }
            assertEquals(20, ends.feed.figures().published());
            // besides the schema and one dictionary
            assertEquals(5 * (2 + 20), ends.feed.figures().sent());
        }
    }

    @Test
    void theBytesAreFlightsOwn(MemorySource memory) throws Exception {
        try (Ends ends = new Ends(memory, Broadcast.builder())) {
            Iterator<byte[]> own = raw(ends, Ends.OWN);
            List<byte[]> wanted = new ArrayList<>();
            own.forEachRemaining(wanted::add);
            Iterator<byte[]> shared = raw(ends, Ends.SHARED);
            Ends.await(() -> ends.feed.figures().subscribers() == 1);
            for (int i = 0; i < 3; i++) {
                publish(ends, i, 10 * i);
            }
            ends.feed.complete();
            assertEquals(5, wanted.size());
            for (byte[] message : wanted) {
                assertArrayEquals(message, shared.next());
            }
            assertFalse(shared.hasNext());
        }
    }

    @Test
    void aLateClientGetsTheSchemaAndWhatFollows(MemorySource memory) throws Exception {
        try (Ends ends = new Ends(memory, Broadcast.builder())) {
            assertEquals(0, publish(ends, 0, 10));
            FlightStream early = ends.subscribe();
            publish(ends, 1, 10);
            FlightStream late = ends.subscribe();
            publish(ends, 2, 10);
            ends.feed.complete();
            assertEquals(numbers(1, 3), rest(early));
            assertEquals(numbers(2, 3), rest(late));
        }
    }

    @Test
    void whatWaitsForASlowClientIsNotTheVectors(MemorySource memory) throws Exception {
        try (Ends ends = new Ends(memory, Broadcast.builder().queueMessages(100).queueBytes(1 << 30))) {
            FlightStream slow = ends.subscribe();
            for (int i = 0; i < 50; i++) {
                publish(ends, i, LARGE);
            }
            ends.feed.complete();
            assertEquals(0, ends.feed.figures().droppedMessages());
            assertEquals(numbers(0, 50), rest(slow));
        }
    }

    @Test
    void aSlowClientLosesBatchesAndNotTheSchema(MemorySource memory) throws Exception {
        Broadcast.Builder settings =
                Broadcast.builder().slow(SlowPolicy.DROP_OLDEST).queueMessages(1);
        try (Ends ends = new Ends(memory, settings)) {
            FlightStream slow = ends.subscribe();
            for (int i = 0; i < 100; i++) {
                publish(ends, i, LARGE);
            }
            ends.feed.complete();
            List<Integer> read = rest(slow);
            assertEquals(read.stream().sorted().distinct().toList(), read);
            assertEquals(99, read.getLast());
            assertEquals(100 - read.size(), ends.feed.figures().droppedMessages());
            assertTrue(read.size() < 100, read::toString);
        }
    }

    @Test
    void aClientThatIsTooSlowIsDroppedAndNoOther(MemorySource memory) throws Exception {
        try (Ends ends = new Ends(memory, Broadcast.builder().queueMessages(2))) {
            FlightStream slow = ends.subscribe();
            FlightStream fast = ends.subscribe();
            List<Integer> read = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                publish(ends, i, LARGE);
                assertTrue(fast.next());
                read.add(Batches.check(fast));
            }
            assertEquals(numbers(0, 100), read);
            assertEquals(1, ends.feed.figures().droppedSubscribers());
            FlightRuntimeException end = assertThrows(FlightRuntimeException.class, () -> rest(slow));
            assertEquals(FlightStatusCode.RESOURCE_EXHAUSTED, end.status().code());
        }
    }

    @Test
    void aClientThatCancelsLeaves(MemorySource memory) throws Exception {
        try (Ends ends = new Ends(memory, Broadcast.builder())) {
            FlightStream leaving = ends.subscribe();
            FlightStream staying = ends.subscribe();
            publish(ends, 0, LARGE);
            leaving.cancel("enough", null);
            Ends.await(() -> ends.feed.figures().subscribers() == 1);
            assertEquals(1, publish(ends, 1, 10));
            ends.feed.complete();
            assertEquals(numbers(0, 2), rest(staying));
        }
    }

    @Test
    void aServerThatEndsLeavesNothing(MemorySource memory) throws Exception {
        try (Ends ends = new Ends(memory, Broadcast.builder())) {
            FlightStream client = ends.subscribe();
            for (int i = 0; i < 30; i++) {
                publish(ends, i, LARGE);
            }
            ends.server.shutdownNow();
            assertThrows(FlightRuntimeException.class, () -> rest(client));
            Ends.await(() -> ends.feed.figures().subscribers() == 0);
        }
    }

    @Test
    void aBatchWithoutMemoryGoesToNoClientAndTheFeedGoesOn(MemorySource memory) throws Exception {
        // the schema, its dictionary, a batch
        Refusing source = new Refusing(memory);
        try (Ends ends = new Ends(memory, source, Broadcast.builder())) {
            FlightStream client = ends.subscribe();
            publish(ends, 0, 10);
            source.refuses = true;
            IllegalStateException refused = assertThrows(IllegalStateException.class, () -> publish(ends, 1, 10));
            assertTrue(refused.getMessage().startsWith("stingy source refuses: requested="), refused::getMessage);
            source.refuses = false;
            publish(ends, 2, 10);
            ends.feed.complete();
            assertEquals(List.of(0, 2), rest(client));
        }
    }

    @Test
    void aFeedWithoutMemoryIsNotOpened(MemorySource memory) throws Exception {
        try (RootAllocator allocator = new RootAllocator();
                Batches batches = new Batches(allocator)) {
            FlightFeeds feeds = FlightFeeds.of(allocator, new StingySource(memory, 1));
            assertThrows(
                    IllegalStateException.class,
                    () -> feeds.open(
                            batches.root,
                            batches,
                            org.apache.arrow.vector.ipc.message.IpcOption.DEFAULT,
                            Broadcast.builder()));
        }
    }

    @Test
    void aFeedThatIsOverTakesNoBatchAndEndsItsClients(MemorySource memory) throws Exception {
        try (Ends ends = new Ends(memory, Broadcast.builder())) {
            FlightStream client = ends.subscribe();
            ends.feed.close();
            FlightRuntimeException end = assertThrows(FlightRuntimeException.class, () -> rest(client));
            assertEquals(FlightStatusCode.UNAVAILABLE, end.status().code());
            assertThrows(IllegalStateException.class, () -> publish(ends, 0, 10));
        }
    }

    @Test
    void otherTicketsAreTheProducers(MemorySource memory) throws Exception {
        try (Ends ends = new Ends(memory, Broadcast.builder())) {
            assertEquals(numbers(0, 3), rest(ends.get(Ends.OWN)));
            FlightStream unknown = ends.get(new Ticket(new byte[] {1}));
            FlightRuntimeException end = assertThrows(FlightRuntimeException.class, unknown::next);
            assertEquals(FlightStatusCode.NOT_FOUND, end.status().code());
        }
    }

    @Test
    void aServiceOfAnotherKindIsRefused(MemorySource memory) {
        try (RootAllocator allocator = new RootAllocator()) {
            BindableService other =
                    () -> ServerServiceDefinition.builder("other").build();
            IllegalArgumentException refused = assertThrows(
                    IllegalArgumentException.class,
                    () -> FlightFeeds.of(allocator, memory).serve(other, ticket -> null));
            assertEquals(
                    "no Flight service: name=other missing=arrow.flight.protocol.FlightService/DoGet",
                    refused.getMessage());
        }
    }

    private static int publish(Ends ends, int batch, int rows) throws InterruptedException {
        ends.batches.fill(batch, rows);
        return ends.feed.publish(ends.batches.metadata(batch));
    }

    private static List<Integer> rest(FlightStream stream) {
        List<Integer> batches = new ArrayList<>();
        while (stream.next()) {
            batches.add(Batches.check(stream));
        }
        return batches;
    }

    private static List<Integer> numbers(int from, int to) {
        return IntStream.range(from, to).boxed().toList();
    }

    private static Iterator<byte[]> raw(Ends ends, Ticket ticket) {
        MethodDescriptor<Flight.Ticket, byte[]> method = FlightServiceGrpc.getDoGetMethod().toBuilder(
                        FlightServiceGrpc.getDoGetMethod().getRequestMarshaller(), new Bytes())
                .build();
        return ClientCalls.blockingServerStreamingCall(
                ends.channel,
                method,
                CallOptions.DEFAULT,
                Flight.Ticket.newBuilder()
                        .setTicket(ByteString.copyFrom(ticket.getBytes()))
                        .build());
    }

    private static final class Bytes implements Marshaller<byte[]> {

        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }
    }

    /// Has no memory while a test says so.
    private static final class Refusing implements MemorySource {

        private final MemorySource source;
        private final MemorySource stingy;
        private boolean refuses;

        Refusing(MemorySource source) {
            this.source = source;
            this.stingy = new StingySource(source, 0);
        }

        @Override
        public Region allocate(long byteSize) {
            return (refuses ? stingy : source).allocate(byteSize);
        }

        @Override
        public io.bulla.refcount.LeaseTrace trace() {
            return source.trace();
        }
    }
}
