// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.BytesValue;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.FanoutFigures;
import io.bulla.fanout.SlowPolicy;
import io.bulla.fanout.Subscription;
import io.bulla.refcount.LeaseTally;
import io.bulla.testkit.NoOpenHandles;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ExtendWith(NoOpenHandles.class)
class BroadcastTest {

    // more than gRPC and the wire take for a stream that does not read
    private static final int LARGE = 200_000;

    private final BlockingQueue<Subscription> subscribed = new LinkedBlockingQueue<>();

    @AfterEach
    void everyHandleIsClosed(MemorySource memory) throws InterruptedException {
        awaitClosed(memory);
    }

    @ParameterizedTest
    @EnumSource
    void everyStreamGetsEveryMessageInOrder(Wire wire, MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Broadcast feed = Broadcast.builder().build();
                Wire.Ends ends = wire.open(service(sealed, feed))) {
            List<Reader<BytesValue>> readers = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                readers.add(Reader.plain(ends.channel));
            }
            awaitStreams(20);
            for (int i = 0; i < 30; i++) {
                assertEquals(20, publish(sealed, feed, i, 8 + i * 400));
            }
            for (Reader<BytesValue> reader : readers) {
                assertEquals(LongStream.range(0, 30).boxed().toList(), reader.read(30).numbers);
            }
            feed.complete();
            for (Reader<BytesValue> reader : readers) {
                assertTrue(reader.end().isOk());
            }
            await(() -> feed.figures().equals(new FanoutFigures(0, 30, 600, 0, 0, 0, 0)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void callsWithoutAStubAreServedToo(Wire wire, MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Broadcast feed = Broadcast.builder().build();
                Wire.Ends ends = wire.open(ServerServiceDefinition.builder(Feed.SERVICE)
                        .addMethod(sealed.responses(Feed.SUBSCRIBE), feed.asHandler())
                        .build())) {
            Reader<BytesValue> reader = Reader.plain(ends.channel);
            await(() -> feed.figures().subscribers() == 1);
            publish(sealed, feed, 7, 100);
            assertEquals(List.of(7L), reader.read(1).numbers);
            reader.call.cancel("enough", null);
            await(() -> feed.figures().subscribers() == 0);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"IN_PROCESS", "NETTY"})
    void aSlowStreamLosesItsOldestMessages(Wire wire, MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Broadcast feed = Broadcast.builder()
                        .slow(SlowPolicy.DROP_OLDEST)
                        .queueMessages(3)
                        .queueBytes(64 << 20)
                        .build();
                Wire.Ends ends = wire.open(service(sealed, feed))) {
            Reader<BytesValue> reader = Reader.plain(ends.channel);
            Subscription stream = awaitStreams(1).getFirst();
            for (int i = 0; i < 20; i++) {
                publish(sealed, feed, i, LARGE);
            }
            await(() -> stream.queued() == 3 && stream.sent() + stream.dropped() == 17);
            assertEquals(stream.dropped(), feed.figures().droppedMessages());
            int early = (int) stream.sent();
            assertTrue(early < 17, stream::toString);
            feed.complete();
            reader.read(early + 3);
            assertEquals(
                    LongStream.concat(LongStream.range(0, early), LongStream.range(17, 20))
                            .boxed()
                            .toList(),
                    reader.numbers);
            assertTrue(reader.end().isOk());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"IN_PROCESS", "NETTY"})
    void aStreamThatIsTooSlowIsDroppedAndNoOther(Wire wire, MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Broadcast feed = Broadcast.builder().queueBytes(LARGE * 2).build();
                Wire.Ends ends = wire.open(service(sealed, feed))) {
            Reader<BytesValue> slow = Reader.plain(ends.channel);
            ManagedChannel another = ends.newChannel();
            Reader<BytesValue> fast = Reader.plain(another);
            awaitStreams(2);
            for (int i = 0; i < 20; i++) {
                publish(sealed, feed, i, LARGE);
                fast.read(1);
            }
            assertEquals(1, feed.figures().droppedSubscribers());
            slow.call.request(100);
            Status status = slow.end();
            assertEquals(Status.Code.RESOURCE_EXHAUSTED, status.getCode());
            assertTrue(
                    status.getDescription().startsWith("too slow for the broadcast: queuedMessages="),
                    () -> "" + status);
            assertEquals(LongStream.range(0, slow.numbers.size()).boxed().toList(), slow.numbers);
            assertEquals(20, fast.numbers.size());
            another.shutdownNow();
        }
    }

    @Test
    void aPublisherWaitsForRoom(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Broadcast feed = Broadcast.builder()
                        .slow(SlowPolicy.WAIT)
                        .queueMessages(1)
                        .patience(Duration.ofHours(1))
                        .build();
                Wire.Ends ends = Wire.NETTY.open(service(sealed, feed))) {
            Reader<BytesValue> reader = Reader.plain(ends.channel);
            awaitStreams(1);
            Thread publisher = Thread.ofPlatform().start(() -> {
                try {
                    for (int i = 0; i < 30; i++) {
                        publish(sealed, feed, i, LARGE);
                    }
                } catch (InterruptedException failure) {
                    throw new AssertionError(failure);
                }
            });
            await(() -> publisher.getState() == Thread.State.TIMED_WAITING);
            reader.read(30);
            publisher.join();
            assertEquals(LongStream.range(0, 30).boxed().toList(), reader.numbers);
            assertTrue(feed.figures().waits() > 0);
            assertEquals(0, feed.figures().droppedMessages());
        }
    }

    @Test
    void aPublisherWithoutPatienceDropsTheStream(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Broadcast feed = Broadcast.builder()
                        .slow(SlowPolicy.WAIT)
                        .queueMessages(1)
                        .patience(Duration.ZERO)
                        .build();
                Wire.Ends ends = Wire.NETTY.open(service(sealed, feed))) {
            Reader.plain(ends.channel);
            awaitStreams(1);
            for (int i = 0; i < 30; i++) {
                publish(sealed, feed, i, LARGE);
            }
            assertEquals(1, feed.figures().droppedSubscribers());
            await(() -> feed.figures().subscribers() == 0);
        }
    }

    @Test
    void anInterruptedPublisherSendsToNoStream(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Broadcast feed = Broadcast.builder()
                        .slow(SlowPolicy.WAIT)
                        .queueMessages(1)
                        .patience(Duration.ofHours(1))
                        .build();
                Wire.Ends ends = Wire.NETTY.open(service(sealed, feed))) {
            Reader<BytesValue> reader = Reader.plain(ends.channel);
            Subscription stream = awaitStreams(1).getFirst();
            int published = 0;
            while (stream.queued() == 0) {
                publish(sealed, feed, published++, LARGE);
            }
            int next = published;
            CompletableFuture<Throwable> outcome = new CompletableFuture<>();
            Thread publisher = Thread.ofPlatform()
                    .start(() -> outcome.complete(
                            assertThrows(InterruptedException.class, () -> publish(sealed, feed, next, LARGE))));
            await(() -> publisher.getState() == Thread.State.TIMED_WAITING);
            publisher.interrupt();
            outcome.get(1, TimeUnit.MINUTES);
            assertEquals(next, feed.figures().published());
            reader.read(next);
            publish(sealed, feed, next, LARGE);
            reader.read(1);
            assertEquals(LongStream.rangeClosed(0, next).boxed().toList(), reader.numbers);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"IN_PROCESS", "NETTY"})
    void whatWaitsForACallThatEndsIsClosed(Wire wire, MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Broadcast feed = Broadcast.builder().queueBytes(64 << 20).build();
                Wire.Ends ends = wire.open(service(sealed, feed))) {
            Reader<BytesValue> cancelled = Reader.plain(ends.channel);
            ManagedChannel reset = ends.newChannel();
            Reader.plain(reset);
            ManagedChannel third = ends.newChannel();
            Reader<BytesValue> late = Reader.start(
                    third, Feed.SUBSCRIBE, CallOptions.DEFAULT.withDeadlineAfter(Duration.ofSeconds(2)), Feed::check);
            awaitStreams(3);
            for (int i = 0; i < 30; i++) {
                publish(sealed, feed, i, LARGE);
            }
            cancelled.call.cancel("enough", null);
            reset.shutdownNow();
            assertEquals(Status.Code.DEADLINE_EXCEEDED, late.end().getCode());
            await(() -> feed.figures().subscribers() == 0);
            await(() -> feed.queued() == 0);
            await(() -> feed.figures().sent() + feed.figures().droppedMessages() == 90);
            third.shutdownNow();
        }
    }

    @Test
    void aBroadcastThatIsOverTakesNoMessageAndNoStream(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        Broadcast feed = Broadcast.builder().build();
        try (Wire.Ends ends = Wire.NETTY.open(service(sealed, feed))) {
            Reader<BytesValue> early = Reader.plain(ends.channel);
            awaitStreams(1);
            feed.close();
            feed.close();
            assertEquals(Status.Code.UNAVAILABLE, early.end().getCode());
            assertEquals(
                    Status.Code.UNAVAILABLE, Reader.plain(ends.channel).end().getCode());
            IllegalStateException over = assertThrows(IllegalStateException.class, () -> publish(sealed, feed, 0, 100));
            assertTrue(over.getMessage().startsWith("fan-out is over: "), over::getMessage);
            await(() -> feed.figures().subscribers() == 0);
        }
    }

    @Test
    void aClosedMessageGoesToNoStream(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Broadcast feed = Broadcast.builder().build();
                Wire.Ends ends = Wire.NETTY.open(service(sealed, feed))) {
            Reader<BytesValue> reader = Reader.plain(ends.channel);
            awaitStreams(1);
            SealedBuffer closed = packed(sealed, 0, 100);
            closed.close();
            assertThrows(ReleasedBufferException.class, () -> feed.publish(closed));
            publish(sealed, feed, 1, 100);
            assertEquals(List.of(1L), reader.read(1).numbers);
        }
    }

    @Test
    void settingsAreChecked() {
        Broadcast.Builder builder = Broadcast.builder();
        assertEquals(
                "a queue holds at least one: messages=0",
                assertThrows(IllegalArgumentException.class, () -> builder.queueMessages(0))
                        .getMessage());
        assertEquals(
                "a queue holds at least one: bytes=0",
                assertThrows(IllegalArgumentException.class, () -> builder.queueBytes(0))
                        .getMessage());
        assertEquals(
                "patience is negative: patience=PT-1S",
                assertThrows(IllegalArgumentException.class, () -> builder.patience(Duration.ofSeconds(-1)))
                        .getMessage());
    }

    private ServerServiceDefinition service(SealedMarshaller sealed, Broadcast feed) {
        return ServerServiceDefinition.builder(Feed.SERVICE)
                .addMethod(
                        sealed.responses(Feed.SUBSCRIBE),
                        ServerCalls.asyncServerStreamingCall((topic, observer) ->
                                subscribed.add(feed.subscribe((ServerCallStreamObserver<SealedBuffer>) observer))))
                .build();
    }

    private List<Subscription> awaitStreams(int count) throws InterruptedException {
        List<Subscription> streams = new ArrayList<>();
        while (streams.size() < count) {
            Subscription next = subscribed.poll(1, TimeUnit.MINUTES);
            if (next == null) {
                throw new AssertionError("streams missing: wanted=" + count + " got=" + streams.size());
            }
            streams.add(next);
        }
        return streams;
    }

    private static SealedBuffer packed(SealedMarshaller sealed, long number, int size) {
        return sealed.pack(Feed.SUBSCRIBE.getResponseMarshaller(), Feed.message(number, size));
    }

    private static int publish(SealedMarshaller sealed, Broadcast feed, long number, int size)
            throws InterruptedException {
        try (SealedBuffer message = packed(sealed, number, size)) {
            return feed.publish(message);
        }
    }

    /// gRPC closes a message after its receiver has returned, on a thread of its own.
    static void awaitClosed(MemorySource memory) throws InterruptedException {
        LeaseTally handles = (LeaseTally) memory.trace();
        await(() -> handles.open() == 0);
    }

    /// What the transport in a process drops is closed when it is collected, and an idle JVM collects nothing.
    static void awaitCollected(BooleanSupplier fact) throws InterruptedException {
        await(() -> {
            System.gc();
            return fact.getAsBoolean();
        });
    }

    static void await(BooleanSupplier fact) throws InterruptedException {
        long until = System.nanoTime() + TimeUnit.MINUTES.toNanos(10);
        while (!fact.getAsBoolean()) {
            if (System.nanoTime() > until) {
                throw new AssertionError("not within ten minutes");
            }
            Thread.sleep(1);
        }
    }
}
