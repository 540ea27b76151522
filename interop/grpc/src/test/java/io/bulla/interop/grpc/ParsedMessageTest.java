// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.BytesValue;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.StringValue;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.NoOpenHandles;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// protobuf over the bytes of a sealed buffer, and a relay that looks into what it hands on.
@ExtendWith(NoOpenHandles.class)
class ParsedMessageTest {

    @AfterAll
    static void nettyLeaksNothing() throws InterruptedException {
        assertEquals(List.of(), LeakRecorder.reports(5));
    }

    @AfterEach
    void everyHandleIsClosed(MemorySource memory) throws InterruptedException {
        BroadcastTest.awaitClosed(memory);
    }

    @Test
    void aBytesFieldLiesInTheSealedMemory(MemorySource memory) throws Exception {
        try (SealedBuffer bytes = sealed(memory, Feed.message(5, 10_000).toByteArray());
                ParsedMessage<BytesValue> parsed = ParsedMessage.parse(BytesValue.parser(), bytes)) {
            assertEquals(Feed.message(5, 10_000), parsed.message());
            MemorySegment region = bytes.iovec().region(0);
            MemorySegment field =
                    MemorySegment.ofBuffer(parsed.message().getValue().asReadOnlyByteBuffer());
            assertEquals(region.address() + region.byteSize(), field.address() + field.byteSize());
            assertEquals(2, bytes.holders());
        }
    }

    @Test
    void itKeepsTheBytesBeyondTheHandleItWasGiven(MemorySource memory) throws Exception {
        ParsedMessage<BytesValue> parsed;
        try (SealedBuffer bytes = sealed(memory, Feed.message(5, 1_000).toByteArray())) {
            parsed = ParsedMessage.parse(BytesValue.parser(), bytes);
        }
        // memory that was given back would be poisoned
        assertEquals(5, Feed.check(parsed.message()));
        assertSame(parsed.message(), parsed.message());
        parsed.close();
        parsed.close();
        assertThrows(ReleasedBufferException.class, parsed::message);
    }

    @Test
    void cutsIntoRegionsChangeNothing(MemorySource memory) throws Exception {
        BytesValue message = Feed.message(7, 600);
        byte[] all = message.toByteArray();
        for (int first = 0; first < all.length; first += 37) {
            for (int second = first; second < all.length; second += 53) {
                try (SealedBuffer a = sealed(memory, Arrays.copyOfRange(all, 0, first));
                        SealedBuffer b = sealed(memory, Arrays.copyOfRange(all, first, second));
                        SealedBuffer c = sealed(memory, Arrays.copyOfRange(all, second, all.length));
                        SealedBuffer joined = SealedBuffer.concat(a, b, c);
                        ParsedMessage<BytesValue> parsed = ParsedMessage.parse(BytesValue.parser(), joined)) {
                    assertEquals(message, parsed.message(), "first=" + first + " second=" + second);
                }
            }
        }
    }

    @Test
    void anEmptyMessageIsOne(MemorySource memory) throws Exception {
        try (SealedBuffer none = sealed(memory, new byte[0]);
                ParsedMessage<BytesValue> parsed = ParsedMessage.parse(BytesValue.parser(), none)) {
            assertEquals(BytesValue.getDefaultInstance(), parsed.message());
        }
    }

    @Test
    void bytesThatAreNoMessageAreRefusedAndNotKept(MemorySource memory) {
        byte[] whole = Feed.message(1, 1_000).toByteArray();
        refused(memory, Arrays.copyOf(whole, whole.length - 1));
        refused(memory, new byte[] {(byte) 0xff});
        // the end of a group that never began
        refused(memory, new byte[] {0x0c});
        // a string that is no UTF-8
        try (SealedBuffer bytes = sealed(memory, new byte[] {0x0a, 1, (byte) 0xff})) {
            assertThrows(InvalidProtocolBufferException.class, () -> ParsedMessage.parse(StringValue.parser(), bytes));
            assertEquals(1, bytes.holders());
        }
    }

    private static void refused(MemorySource memory, byte[] wrong) {
        try (SealedBuffer bytes = sealed(memory, wrong)) {
            assertThrows(InvalidProtocolBufferException.class, () -> ParsedMessage.parse(BytesValue.parser(), bytes));
            assertEquals(1, bytes.holders());
        }
    }

    @Test
    void aClosedMessageIsRefused(MemorySource memory) {
        SealedBuffer closed = sealed(memory, new byte[0]);
        closed.close();
        assertThrows(ReleasedBufferException.class, () -> ParsedMessage.parse(BytesValue.parser(), closed));
    }

    @Test
    void aRelayLooksIntoWhatItHandsOnWithoutACopy(MemorySource memory) throws Exception {
        SealedMarshaller origin = SealedMarshaller.of(memory);
        SealedMarshaller relay = SealedMarshaller.of(memory);
        try (Broadcast all = Broadcast.builder().build();
                Broadcast even = Broadcast.builder().build();
                Broadcast odd = Broadcast.builder().build();
                Wire.Ends up = Wire.NETTY.open(service(origin, all));
                Wire.Ends downEven = Wire.NETTY.open(service(relay, even));
                Wire.Ends downOdd = Wire.NETTY.open(service(relay, odd))) {
            Reader<BytesValue> evens = Reader.plain(downEven.channel);
            Reader<BytesValue> odds = Reader.plain(downOdd.channel);
            ByNumber upstream = new ByNumber(even, odd, new CompletableFuture<>());
            ClientCalls.asyncServerStreamingCall(
                    up.channel.newCall(relay.responses(Feed.SUBSCRIBE), CallOptions.DEFAULT),
                    StringValue.of("topic"),
                    upstream);
            BroadcastTest.await(() -> all.figures().subscribers() == 1
                    && even.figures().subscribers() == 1
                    && odd.figures().subscribers() == 1);
            for (int i = 0; i < 40; i++) {
                try (SealedBuffer message =
                        origin.pack(Feed.SUBSCRIBE.getResponseMarshaller(), Feed.message(i, 8 + i * 900))) {
                    all.publish(message);
                }
            }
            all.complete();
            assertTrue(upstream.end.get(1, TimeUnit.MINUTES));
            assertEquals(everySecond(0), evens.read(20).numbers);
            assertEquals(everySecond(1), odds.read(20).numbers);
            MarshallerFigures figures = relay.figures();
            // gRPC itself moves small pieces of a message to the heap now and then: that one is copied
            assertEquals(40, figures.kept() + figures.copied());
            assertTrue(figures.kept() > 0, figures::toString);
            BroadcastTest.await(() -> relay.figures().pinned() == 0);
        }
    }

    @Test
    void aCompressedMessageIsParsedFromItsOneCopy(MemorySource memory) throws Exception {
        SealedMarshaller client = SealedMarshaller.of(memory);
        BytesValue message = Feed.message(3, 50_000);
        ServerInterceptor compressing = new ServerInterceptor() {
            @Override
            public <Q, R> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
                call.setCompression("gzip");
                return next.startCall(call, headers);
            }
        };
        try (Wire.Ends ends = Wire.NETTY.open(
                        ServerInterceptors.intercept(Echo.service(SealedMarshaller.of(memory)), compressing));
                SealedBuffer response = ClientCalls.blockingUnaryCall(
                        ends.channel, client.responses(Feed.ECHO), CallOptions.DEFAULT, message);
                ParsedMessage<BytesValue> parsed = ParsedMessage.parse(BytesValue.parser(), response)) {
            assertEquals(message, parsed.message());
            assertEquals(new MarshallerFigures(0, 0, 1, response.byteSize(), 0), client.figures());
        }
    }

    private static List<Long> everySecond(int first) {
        return LongStream.range(0, 20).map(i -> 2 * i + first).boxed().toList();
    }

    private static SealedBuffer sealed(MemorySource memory, byte[] bytes) {
        return BufferBuilder.create(memory).put(bytes).seal();
    }

    private static ServerServiceDefinition service(SealedMarshaller sealed, Broadcast feed) {
        return ServerServiceDefinition.builder(Feed.SERVICE)
                .addMethod(sealed.responses(Feed.SUBSCRIBE), feed.asHandler())
                .build();
    }

    private record ByNumber(Broadcast even, Broadcast odd, CompletableFuture<Boolean> end)
            implements StreamObserver<SealedBuffer> {

        @Override
        public void onNext(SealedBuffer message) {
            try (message;
                    ParsedMessage<BytesValue> parsed = ParsedMessage.parse(BytesValue.parser(), message)) {
                (Feed.check(parsed.message()) % 2 == 0 ? even : odd).publish(parsed.bytes());
            } catch (InterruptedException | InvalidProtocolBufferException failure) {
                throw new AssertionError(failure);
            }
        }

        @Override
        public void onError(Throwable failure) {
            end.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            end.complete(true);
        }
    }
}
