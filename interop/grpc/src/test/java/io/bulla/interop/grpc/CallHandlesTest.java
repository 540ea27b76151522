// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.BytesValue;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseTally;
import io.bulla.testkit.NoOpenHandles;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptors;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ExtendWith(NoOpenHandles.class)
class CallHandlesTest {

    private static final int SIZE = 20_000;

    /// As a stream: gRPC keeps the message of a call that has one until its client has sent all.
    private static final MethodDescriptor<BytesValue, BytesValue> STREAM =
            Feed.ECHO.toBuilder().setType(MethodType.BIDI_STREAMING).build();

    private final CallHandles client = CallHandles.create();
    private final CallHandles server = CallHandles.create();

    @AfterAll
    static void nettyLeaksNothing() throws InterruptedException {
        assertEquals(List.of(), LeakRecorder.reports(5));
    }

    @AfterEach
    void everyHandleIsClosed(MemorySource memory) throws InterruptedException {
        LeaseTally handles = (LeaseTally) memory.trace();
        BroadcastTest.awaitCollected(() -> handles.open() == 0);
    }

    @ParameterizedTest
    @EnumSource
    void callsThatEndWellAreWhatTheyWere(Wire wire, MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Wire.Ends ends = wire.open(ServerInterceptors.intercept(Echo.service(sealed), server));
                SealedBuffer message = packed(sealed)) {
            Channel channel = ClientInterceptors.intercept(ends.channel, client);
            try (SealedBuffer answer =
                    ClientCalls.blockingUnaryCall(channel, both(sealed, Feed.ECHO), CallOptions.DEFAULT, message)) {
                assertTrue(message.contentEquals(answer));
            }
            assertEquals(2, streamed(channel, both(sealed, Feed.ECHO_ALL), message, message));
            assertEquals(1, streamed(channel, both(sealed, Feed.LAST), message, message));
            BytesValue plain = Feed.message(1, 100);
            assertEquals(plain, ClientCalls.blockingUnaryCall(channel, Feed.ECHO, CallOptions.DEFAULT, plain));
        }
        assertEquals("CallHandles[forgotten=0 undelivered=0]", client.toString());
        assertEquals("CallHandles[forgotten=0 undelivered=0]", server.toString());
        BroadcastTest.await(() -> sealed.figures().pinned() == 0);
    }

    @ParameterizedTest
    @EnumSource(names = {"IN_PROCESS", "NETTY"})
    void whatIsSentPastTheDeadlineIsClosed(Wire wire, MemorySource memory) throws Exception {
        CallOptions late = CallOptions.DEFAULT.withDeadlineAfter(-1, TimeUnit.SECONDS);
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Wire.Ends ends = wire.open(Echo.service(sealed));
                SealedBuffer message = packed(sealed)) {
            Caller<SealedBuffer, SealedBuffer> caller =
                    Caller.start(ClientInterceptors.intercept(ends.channel, client), both(sealed, Feed.ECHO), late);
            caller.call.sendMessage(message);
            assertEquals(Status.Code.DEADLINE_EXCEEDED, caller.end().getCode());
            BroadcastTest.await(() -> message.holders() == 1);
        }
    }

    /// The first half shows that the fault is gRPC's: nothing of ours takes part.
    @Test
    void whatIsSentToACallThatWasCancelledInTheSameProcessIsClosedThoughGrpcDropsIt(MemorySource memory)
            throws Exception {
        Counted counted = new Counted();
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        MethodDescriptor<byte[], byte[]> plainMethod =
                Feed.ECHO_ALL.toBuilder(counted, counted).build();
        MethodDescriptor<SealedBuffer, SealedBuffer> sealedMethod = both(sealed, Feed.ECHO_ALL).toBuilder()
                .setFullMethodName(MethodDescriptor.generateFullMethodName(Feed.SERVICE, "Sealed"))
                .build();
        Cancelled<byte[]> plain = new Cancelled<>();
        Cancelled<SealedBuffer> ours = new Cancelled<>();
        ServerServiceDefinition service = ServerServiceDefinition.builder(Feed.SERVICE)
                .addMethod(plainMethod, ServerCalls.asyncBidiStreamingCall(plain))
                .addMethod(sealedMethod, ServerCalls.asyncBidiStreamingCall(ours))
                .build();
        try (Wire.Ends ends = Wire.IN_PROCESS.open(ServerInterceptors.intercept(service, server));
                SealedBuffer message = packed(sealed)) {
            Caller.start(ends.channel, plainMethod).call.cancel("enough", null);
            plain.await().onNext(new byte[10]);
            assertEquals(1, counted.opened.get());
            assertEquals(0, counted.closed.get());

            Caller.start(ends.channel, sealedMethod).call.cancel("enough", null);
            ours.await().onNext(message);
            assertEquals(1, message.holders());
        }
    }

    /// gRPC parses the one request of a call when the client has sent all; older versions parsed it at once.
    @ParameterizedTest
    @EnumSource
    void aRequestWhoseCallIsCancelledBeforeTheServiceIsCalledIsNotParsed(Wire wire, MemorySource memory)
            throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        CountDownLatch arrived = new CountDownLatch(1);
        ServerStreamTracer tracer = new ServerStreamTracer() {
            @Override
            public void inboundMessageRead(int number, long wireSize, long size) {
                arrived.countDown();
            }
        };
        try (Wire.Ends ends =
                wire.open(Echo.service(sealed), settings -> settings.addStreamTracerFactory(of(tracer)))) {
            Caller<BytesValue, BytesValue> caller = Caller.start(ends.channel, STREAM);
            caller.call.sendMessage(Feed.message(1, SIZE));
            assertTrue(arrived.await(1, TimeUnit.MINUTES));
            caller.call.cancel("enough", null);
            assertFalse(caller.end().isOk());
        }
        assertEquals(0, received(sealed));
    }

    /// gRPC alone never ends such a call: its cancel goes to a connection that is no more.
    @ParameterizedTest
    @EnumSource
    void aCallThatIsCancelledWhenItsConnectionHasEndedEnds(Wire wire, MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        MethodDescriptor<SealedBuffer, SealedBuffer> method = both(sealed, Feed.ECHO_ALL);
        ServerServiceDefinition service = ServerServiceDefinition.builder(Feed.SERVICE)
                .addMethod(Feed.ECHO_ALL, (call, headers) -> {
                    call.sendHeaders(new Metadata());
                    for (int i = 0; i < 10; i++) {
                        call.sendMessage(Feed.message(i, SIZE));
                    }
                    call.request(1);
                    return new ServerCall.Listener<>() {};
                })
                .build();
        try (Wire.Ends ends = wire.open(service);
                SealedBuffer message = packed(sealed)) {
            ManagedChannel channel = ends.newChannel();
            Caller<SealedBuffer, SealedBuffer> caller =
                    Caller.start(ClientInterceptors.intercept(channel, client), method);
            caller.call.sendMessage(message);
            caller.call.request(1);
            BroadcastTest.await(() -> caller.messages.size() == 1);
            ends.server.shutdownNow();
            BroadcastTest.await(() -> channel.getState(false) != ConnectivityState.READY);
            channel.shutdownNow();
            assertTrue(channel.awaitTermination(1, TimeUnit.MINUTES));
            caller.call.cancel("enough", null);
            assertFalse(caller.end().isOk());
            assertEquals(1, message.holders());
            assertEquals(1, caller.messages.size());
            caller.messages.getFirst().close();
        }
        BroadcastTest.await(() -> sealed.figures().pinned() == 0);
    }

    @ParameterizedTest
    @EnumSource
    void aResponseWhoseCallFailsIsClosed(Wire wire, MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Wire.Ends ends = wire.open(answering((call, request) -> {
            call.sendHeaders(new Metadata());
            call.sendMessage(request);
            call.close(Status.DATA_LOSS, new Metadata());
        }))) {
            Channel channel = ClientInterceptors.intercept(ends.channel, client);
            ListenableFuture<SealedBuffer> answer = ClientCalls.futureUnaryCall(
                    channel.newCall(sealed.responses(Feed.ECHO), CallOptions.DEFAULT), Feed.message(1, SIZE));
            assertThrows(Exception.class, () -> answer.get(1, TimeUnit.MINUTES));
            assertEquals(1, client.undelivered());
            BroadcastTest.await(() -> sealed.figures().pinned() == 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aResponseWhoseFutureIsCancelledIsClosed(Wire wire, MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Wire.Ends ends = wire.open(answering((call, request) -> {
            call.sendHeaders(new Metadata());
            call.sendMessage(request);
        }))) {
            Channel channel = ClientInterceptors.intercept(ends.channel, client);
            ListenableFuture<SealedBuffer> answer = ClientCalls.futureUnaryCall(
                    channel.newCall(sealed.responses(Feed.ECHO), CallOptions.DEFAULT), Feed.message(1, SIZE));
            BroadcastTest.await(() -> received(sealed) == 1);
            answer.cancel(true);
            BroadcastTest.await(() -> client.undelivered() == 1);
            BroadcastTest.await(() -> sealed.figures().pinned() == 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aSecondResponseOfACallThatHasOneEndsIt(Wire wire, MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Wire.Ends ends = wire.open(answering((call, request) -> {
            call.sendHeaders(new Metadata());
            call.sendMessage(request);
            call.sendMessage(request);
            call.close(Status.OK, new Metadata());
        }))) {
            Caller<BytesValue, SealedBuffer> caller =
                    Caller.start(ClientInterceptors.intercept(ends.channel, client), sealed.responses(Feed.ECHO));
            caller.call.request(2);
            caller.call.sendMessage(Feed.message(1, SIZE));
            caller.call.halfClose();
            assertFalse(caller.end().isOk());
            assertEquals(List.of(), caller.messages);
            assertEquals(2, client.undelivered());
            BroadcastTest.await(() -> sealed.figures().pinned() == 0);
        }
    }

    @Test
    void aMessageMayBeClosedBeforeTheChannelHasFoundItsServer(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Wire.Ends ends = Wire.NETTY.open(Echo.service(sealed));
                LateChannel late = new LateChannel(ends.server.getPort())) {
            Caller<SealedBuffer, BytesValue> caller =
                    Caller.start(ClientInterceptors.intercept(late.channel, client), sealed.requests(Feed.ECHO));
            caller.call.request(1);
            try (SealedBuffer message = packed(sealed)) {
                caller.call.sendMessage(message);
            }
            caller.call.halfClose();
            late.found();
            assertTrue(caller.end().isOk(), () -> "" + caller.messages);
            assertEquals(List.of(Feed.message(1, SIZE)), caller.messages);
        }
    }

    @Test
    void withoutThemAMessageThatIsClosedTooEarlyFailsItsCall(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Wire.Ends ends = Wire.NETTY.open(Echo.service(sealed));
                LateChannel late = new LateChannel(ends.server.getPort())) {
            Caller<SealedBuffer, BytesValue> caller = Caller.start(late.channel, sealed.requests(Feed.ECHO));
            try (SealedBuffer message = packed(sealed)) {
                caller.call.sendMessage(message);
            }
            late.found();
            Status end = caller.end();
            assertEquals(Status.Code.CANCELLED, end.getCode());
            assertInstanceOf(ReleasedBufferException.class, end.getCause());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"IN_PROCESS", "NETTY"})
    void aMessageMayBeClosedBeforeItsCallIsTriedAgain(Wire wire, MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        AtomicInteger tries = new AtomicInteger();
        CountDownLatch closed = new CountDownLatch(1);
        CallHandles kept = CallHandles.keepingForRetries();
        try (Wire.Ends ends = wire.open(answering((call, request) -> {
            awaitUnchecked(closed);
            if (tries.incrementAndGet() == 1) {
                call.close(Status.UNAVAILABLE, new Metadata());
                return;
            }
            call.sendHeaders(new Metadata());
            call.sendMessage(request);
            call.close(Status.OK, new Metadata());
        }))) {
            ManagedChannel retrying = ends.retryingChannel();
            Caller<SealedBuffer, BytesValue> caller =
                    Caller.start(ClientInterceptors.intercept(retrying, kept), sealed.requests(Feed.ECHO));
            caller.call.request(1);
            try (SealedBuffer message = packed(sealed)) {
                caller.call.sendMessage(message);
            }
            caller.call.halfClose();
            closed.countDown();
            Status end = caller.end();
            assertTrue(end.isOk(), end::toString);
            assertEquals(2, tries.get());
            assertEquals(List.of(Feed.message(1, SIZE)), caller.messages);
            retrying.shutdownNow();
        }
    }

    @Test
    void whatIsSentAfterTheCallIsOverIsClosed(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        for (Wire wire : new Wire[] {Wire.IN_PROCESS, Wire.NETTY}) {
            try (Wire.Ends ends = wire.open(answering((call, request) -> {}));
                    SealedBuffer message = packed(sealed)) {
                Caller<SealedBuffer, SealedBuffer> caller = Caller.start(
                        ClientInterceptors.intercept(ends.channel, client),
                        both(sealed, Feed.ECHO_ALL).toBuilder()
                                .setFullMethodName("no/Method")
                                .build());
                assertEquals(Status.Code.UNIMPLEMENTED, caller.end().getCode());
                caller.call.sendMessage(message);
                assertEquals(1, message.holders());
            }
        }
    }

    @Test
    void whatACallRefusesIsNotKept(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Wire.Ends ends = Wire.IN_PROCESS.open(Echo.service(sealed));
                SealedBuffer message = packed(sealed)) {
            ClientCall<SealedBuffer, SealedBuffer> never = ClientInterceptors.intercept(ends.channel, client)
                    .newCall(both(sealed, Feed.ECHO), CallOptions.DEFAULT);
            assertThrows(IllegalStateException.class, () -> never.sendMessage(message));
            assertEquals(1, message.holders());
        }
    }

    /// A client in the same process has it, and has not parsed it when its call is cancelled.
    @Test
    void cancelledServerClosesNothingThatAClientHasToParse(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        SentStreams sent = new SentStreams();
        CallTotals totals = new CallTotals();
        try (SealedBuffer message = packed(sealed)) {
            SealedStream handed = (SealedStream) sealed.stream(message);
            assertTrue(sent.add(handed));
            sent.closeForgotten(totals);
            assertTrue(handed.isOpen());
            try (SealedBuffer parsed = sealed.parse(handed)) {
                assertTrue(parsed.contentEquals(message));
            }
            handed.close();
            assertEquals(0, totals.forgotten.sum());
            assertFalse(sent.add((SealedStream) sealed.stream(message)));
            assertEquals(1, message.holders());
        }
    }

    @Test
    void messageOfACancelledServerThatNobodyHasIsClosed(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        SentStreams sent = new SentStreams();
        CallTotals totals = new CallTotals();
        try (SealedBuffer message = packed(sealed)) {
            sent.add((SealedStream) sealed.stream(message));
            assertEquals(2, message.holders());
            sent.closeForgotten(totals);
            BroadcastTest.await(() -> {
                System.gc();
                return message.holders() == 1;
            });
            assertEquals(1, totals.forgotten.sum());
        }
    }

    /// The client's deadline is over while its executor has its messages.
    @Test
    void deadlineIsADeadlineAlsoForAClientThatHasNotParsedWhatItHas(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        CountDownLatch sentAll = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        ServerCallHandler<SealedBuffer, SealedBuffer> handler = (call, headers) -> {
            call.sendHeaders(new Metadata());
            try (SealedBuffer message = packed(sealed)) {
                call.sendMessage(message);
            }
            sentAll.countDown();
            return new ServerCall.Listener<>() {
                @Override
                public void onCancel() {
                    cancelled.countDown();
                }
            };
        };
        MethodDescriptor<SealedBuffer, SealedBuffer> method = both(sealed, Feed.ECHO_ALL);
        ServerServiceDefinition service = ServerInterceptors.intercept(served(method, handler), server);
        assertDeadline(method, service, () -> {
            assertTrue(sentAll.await(1, TimeUnit.MINUTES));
            assertTrue(cancelled.await(1, TimeUnit.MINUTES));
        });
    }

    /// The same of a broadcast.
    @Test
    void deadlineIsADeadlineAlsoForASubscriberThatHasNotParsedWhatItHas(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        MethodDescriptor<SealedBuffer, SealedBuffer> method = both(sealed, Feed.ECHO_ALL);
        try (Broadcast feed = Broadcast.builder().build()) {
            assertDeadline(method, served(method, feed.asHandler()), () -> {
                BroadcastTest.await(() -> feed.figures().subscribers() == 1);
                try (SealedBuffer message = packed(sealed)) {
                    feed.publish(message);
                }
                BroadcastTest.await(() -> feed.figures().subscribers() == 0);
            });
        }
    }

    private static ServerServiceDefinition served(
            MethodDescriptor<SealedBuffer, SealedBuffer> method, ServerCallHandler<SealedBuffer, SealedBuffer> by) {
        return ServerServiceDefinition.builder(Feed.SERVICE)
                .addMethod(method, by)
                .build();
    }

    /// @param untilItIsOver sends a message, and waits for the deadline, before the client's executor comes to either
    private static void assertDeadline(
            MethodDescriptor<SealedBuffer, SealedBuffer> method,
            ServerServiceDefinition service,
            Executable untilItIsOver)
            throws Exception {
        LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
        try (Wire.Ends ends = Wire.IN_PROCESS.open(service)) {
            CompletableFuture<Status> end = new CompletableFuture<>();
            AtomicInteger messages = new AtomicInteger();
            ClientCall<SealedBuffer, SealedBuffer> call = ends.channel.newCall(
                    method, CallOptions.DEFAULT.withExecutor(tasks::add).withDeadlineAfter(1, TimeUnit.SECONDS));
            call.start(
                    new ClientCall.Listener<>() {
                        @Override
                        public void onMessage(SealedBuffer message) {
                            messages.incrementAndGet();
                            message.close();
                        }

                        @Override
                        public void onClose(Status status, Metadata trailers) {
                            end.complete(status);
                        }
                    },
                    new Metadata());
            call.request(5);
            assertDoesNotThrow(untilItIsOver);
            // only now the client's executor comes to it
            while (!end.isDone()) {
                Runnable task = tasks.poll(1, TimeUnit.MINUTES);
                task.run();
            }
            assertEquals(Status.Code.DEADLINE_EXCEEDED, end.get().getCode(), () -> "" + end);
            assertEquals(1, messages.get());
        }
    }

    private static ServerStreamTracer.Factory of(ServerStreamTracer tracer) {
        return new ServerStreamTracer.Factory() {
            @Override
            public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
                return tracer;
            }
        };
    }

    private static int received(SealedMarshaller sealed) {
        MarshallerFigures figures = sealed.figures();
        return (int) (figures.kept() + figures.copied() + figures.shared());
    }

    private static SealedBuffer packed(SealedMarshaller sealed) {
        return sealed.pack(Feed.ECHO.getResponseMarshaller(), Feed.message(1, SIZE));
    }

    private static MethodDescriptor<SealedBuffer, SealedBuffer> both(
            SealedMarshaller sealed, MethodDescriptor<BytesValue, BytesValue> method) {
        return sealed.requests(sealed.responses(method));
    }

    private static void awaitUnchecked(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException failure) {
            throw new AssertionError(failure);
        }
    }

    /// @return how many answers came, each the last request
    private static int streamed(
            Channel channel, MethodDescriptor<SealedBuffer, SealedBuffer> method, SealedBuffer... requests)
            throws Exception {
        CompletableFuture<Boolean> end = new CompletableFuture<>();
        List<Boolean> same = new ArrayList<>();
        StreamObserver<SealedBuffer> answers = new StreamObserver<>() {
            @Override
            public void onNext(SealedBuffer answer) {
                try (answer) {
                    same.add(answer.contentEquals(requests[requests.length - 1]));
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
        };
        StreamObserver<SealedBuffer> out = method.getType() == MethodType.BIDI_STREAMING
                ? ClientCalls.asyncBidiStreamingCall(channel.newCall(method, CallOptions.DEFAULT), answers)
                : ClientCalls.asyncClientStreamingCall(channel.newCall(method, CallOptions.DEFAULT), answers);
        for (SealedBuffer request : requests) {
            out.onNext(request);
        }
        out.onCompleted();
        end.get(1, TimeUnit.MINUTES);
        assertFalse(same.contains(false));
        return same.size();
    }

    private interface Answer {
        void to(ServerCall<BytesValue, BytesValue> call, BytesValue request);
    }

    /// A method of protobuf's messages, without a stub.
    private static ServerServiceDefinition answering(Answer answer) {
        ServerCallHandler<BytesValue, BytesValue> handler = (call, headers) -> {
            call.request(1);
            return new ServerCall.Listener<>() {
                @Override
                public void onMessage(BytesValue request) {
                    answer.to(call, request);
                }
            };
        };
        return ServerServiceDefinition.builder(Feed.SERVICE)
                .addMethod(STREAM, handler)
                .build();
    }

    /// A streaming method whose test sends when it knows that the call is cancelled.
    private static final class Cancelled<T> implements ServerCalls.BidiStreamingMethod<T, T> {

        private final CompletableFuture<StreamObserver<T>> cancelled = new CompletableFuture<>();

        @Override
        public StreamObserver<T> invoke(StreamObserver<T> responses) {
            ((ServerCallStreamObserver<T>) responses).setOnCancelHandler(() -> cancelled.complete(responses));
            return new StreamObserver<>() {
                @Override
                public void onNext(T request) {}

                @Override
                public void onError(Throwable failure) {}

                @Override
                public void onCompleted() {}
            };
        }

        StreamObserver<T> await() throws Exception {
            return cancelled.get(1, TimeUnit.MINUTES);
        }
    }
}
