// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.BytesValue;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.SlowPolicy;
import io.bulla.testkit.NoOpenHandles;
import io.grpc.ServerServiceDefinition;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// What a stream gets before all that is published.
@ExtendWith(NoOpenHandles.class)
class FirstMessagesTest {

    // more than gRPC and the wire take for a stream that does not read
    private static final int LARGE = 200_000;

    @AfterEach
    void everyHandleIsClosed(MemorySource memory) throws InterruptedException {
        BroadcastTest.awaitClosed(memory);
    }

    @ParameterizedTest
    @EnumSource
    void eachStreamGetsThemBeforeAllElse(Wire wire, MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Broadcast feed = broadcast(memory, Broadcast.builder(), 100, 101);
                Wire.Ends ends = wire.open(service(sealed, feed))) {
            Reader<BytesValue> early = Reader.plain(ends.channel);
            BroadcastTest.await(() -> feed.figures().subscribers() == 1);
            publish(sealed, feed, 0, 8);
            publish(sealed, feed, 1, 8);
            assertEquals(List.of(100L, 101L, 0L, 1L), early.read(4).numbers);
            Reader<BytesValue> late = Reader.plain(ends.channel);
            BroadcastTest.await(() -> feed.figures().subscribers() == 2);
            publish(sealed, feed, 2, 8);
            assertEquals(List.of(100L, 101L, 2L), late.read(3).numbers);
            assertEquals(List.of(100L, 101L, 0L, 1L, 2L), early.read(1).numbers);
            // counted once gRPC has it, which may tell the reader first
            BroadcastTest.await(() -> feed.figures().sent() == 8);
            feed.complete();
            assertTrue(early.end().isOk());
            assertTrue(late.end().isOk());
        }
    }

    @Test
    void aFullQueueDropsNoneOfThem(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        Broadcast.Builder settings =
                Broadcast.builder().slow(SlowPolicy.DROP_OLDEST).queueMessages(1);
        try (Broadcast feed = broadcast(memory, settings, 100, 101, 102, 103);
                Wire.Ends ends = Wire.NETTY.open(service(sealed, feed))) {
            Reader<BytesValue> reader = Reader.plain(ends.channel);
            BroadcastTest.await(() -> feed.figures().subscribers() == 1);
            for (int i = 0; i < 20; i++) {
                publish(sealed, feed, i, LARGE);
            }
            BroadcastTest.await(() -> feed.queued() == 1);
            assertTrue(feed.figures().droppedMessages() > 10, feed::toString);
            feed.complete();
            assertEquals(List.of(100L, 101L, 102L, 103L), reader.read(4).numbers);
            reader.call.request(20);
            assertTrue(reader.end().isOk());
            assertEquals(19L, reader.numbers.getLast());
        }
    }

    @Test
    void whatAStreamThatIsCancelledDidNotGetIsClosed(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Broadcast feed = broadcast(memory, Broadcast.builder(), 100, 101, 102, 103);
                Wire.Ends ends = Wire.NETTY.open(service(sealed, feed))) {
            Reader<BytesValue> reader = Reader.plain(ends.channel);
            BroadcastTest.await(() -> feed.figures().subscribers() == 1);
            reader.call.cancel("enough", null);
            BroadcastTest.await(() -> feed.figures().subscribers() == 0);
            assertEquals(
                    4, feed.figures().sent() + feed.figures().droppedMessages(), () -> "lost count: " + feed.figures());
        }
    }

    @Test
    void aBroadcastThatIsOverHasNone(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Broadcast feed = broadcast(memory, Broadcast.builder(), 100);
                Wire.Ends ends = Wire.NETTY.open(service(sealed, feed))) {
            feed.complete();
            BroadcastTest.awaitClosed(memory);
            Reader<BytesValue> reader = Reader.plain(ends.channel);
            reader.call.request(1);
            assertTrue(reader.end().isOk());
            assertEquals(List.of(), reader.numbers);
            BroadcastTest.await(() -> feed.figures().subscribers() == 0);
        }
    }

    @Test
    void aClosedMessageIsRefused(MemorySource memory) {
        SealedBuffer open = packed(memory, 1, 8);
        SealedBuffer closed = packed(memory, 2, 8);
        closed.close();
        Broadcast.Builder settings = Broadcast.builder().first(List.of(open, closed));
        assertThrows(ReleasedBufferException.class, settings::build);
        assertEquals(1, open.holders());
        open.close();
    }

    private static Broadcast broadcast(MemorySource memory, Broadcast.Builder settings, int... numbers) {
        SealedBuffer[] first = new SealedBuffer[numbers.length];
        for (int i = 0; i < numbers.length; i++) {
            first[i] = packed(memory, numbers[i], numbers.length > 2 ? LARGE : 8);
        }
        Broadcast feed = settings.first(List.of(first)).build();
        for (SealedBuffer message : first) {
            message.close();
        }
        return feed;
    }

    private static SealedBuffer packed(MemorySource memory, long number, int size) {
        return SealedMarshaller.of(memory).pack(Feed.SUBSCRIBE.getResponseMarshaller(), Feed.message(number, size));
    }

    private static void publish(SealedMarshaller sealed, Broadcast feed, long number, int size) throws Exception {
        try (SealedBuffer message = sealed.pack(Feed.SUBSCRIBE.getResponseMarshaller(), Feed.message(number, size))) {
            feed.publish(message);
        }
    }

    private static ServerServiceDefinition service(SealedMarshaller sealed, Broadcast feed) {
        return ServerServiceDefinition.builder(Feed.SERVICE)
                .addMethod(sealed.responses(Feed.SUBSCRIBE), feed.asHandler())
                .build();
    }
}
