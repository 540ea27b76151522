// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.BytesValue;
import com.google.protobuf.StringValue;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.SlowPolicy;
import io.bulla.refcount.LeaseTally;
import io.bulla.testkit.PoisoningSource;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;

/// A hundred streams that cancel, run past deadlines, read slowly, lose their connection, have a limit, while
/// the server is shut down and started again: every message that arrives is looked at byte by byte, and comes
/// once. Some are compressed, some empty; beside them unary calls send sealed messages to the server.
///
/// `./check grpc` lets a million messages arrive, by `-Dbulla.messages`; `-Dbulla.seed` is the seed of all choices.
class ChaosTest {

    private static final int STREAMS = 100;
    private static final long MESSAGES = Long.getLong("bulla.messages", 30_000);
    private static final long SEED = Long.getLong("bulla.seed", System.nanoTime());
    private static final int CHANNELS = 8;
    private static final int PACKED = 64;
    private static final int SERVERS = 5;
    private static final int LIMIT = 30_000;
    private static final long EMPTY = -1;
    private static final Metadata.Key<String> COMPRESSED =
            Metadata.Key.of("compressed", Metadata.ASCII_STRING_MARSHALLER);

    private final LeaseTally handles = new LeaseTally();
    private final MemorySource memory = new PoisoningSource(handles);
    private final SealedMarshaller sending = SealedMarshaller.of(memory);
    private final SealedMarshaller receiving = SealedMarshaller.of(memory);
    private final LongAdder arrived = new LongAdder();
    private final LongAdder ended = new LongAdder();
    private final LongAdder overLimit = new LongAdder();
    private final LongAdder echoed = new LongAdder();
    private final CallHandles calls = CallHandles.create();
    private final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
    private final Random random = new Random(SEED);
    private final AtomicInteger running = new AtomicInteger();
    // what they are, for the message of a failure
    private final Set<Asking> open = ConcurrentHashMap.newKeySet();

    @Test
    void everyByteIsRightAndEveryHandleIsClosed() throws Exception {
        System.out.println("grpc: streams=" + STREAMS + " seed=" + SEED);
        ManagedChannel keeper = Wire.keeper();
        try {
            run();
        } finally {
            keeper.shutdownNow();
        }
    }

    private void run() throws Exception {
        long number = 0;
        for (int i = 0; i < SERVERS; i++) {
            number = serverWithClients(number, MESSAGES * (i + 1) / SERVERS, i % 2 == 0 ? Wire.NETTY : Wire.TLS);
        }
        serverWithClients(number, arrived.sum() + MESSAGES / SERVERS, Wire.IN_PROCESS);
        BroadcastTest.await(() -> running.get() == 0);
        BroadcastTest.awaitCollected(
                () -> handles.open() == 0 && receiving.figures().pinned() == 0);
        System.out.println("grpc: calls=" + ended.sum() + " over-limit=" + overLimit.sum() + " echoed=" + echoed.sum()
                + " received=" + receiving.figures() + " " + calls);
        System.out.println(
                "grpc: messages=" + arrived.sum() + " wrong=" + wrong.size() + " handles-open=" + handles.open());
        assertEquals(List.of(), List.copyOf(wrong));
        assertEquals(List.of(), LeakRecorder.reports(5));
        assertTrue(arrived.sum() >= MESSAGES);
        assertTrue(overLimit.sum() > 0);
        assertTrue(echoed.sum() > 0);
    }

    /// @return the number of the next message
    private long serverWithClients(long first, long until, Wire wire) throws Exception {
        long number = first;
        // the publisher keeps the pace of the streams, but not that of one that stands still
        try (Broadcast gapless = Broadcast.builder()
                        .slow(SlowPolicy.WAIT)
                        .queueMessages(8)
                        .patience(Duration.ofMillis(50))
                        .build();
                Broadcast newest = Broadcast.builder()
                        .slow(SlowPolicy.DROP_OLDEST)
                        .queueMessages(8)
                        .build();
                Wire.Ends ends = wire.open(service(gapless, newest))) {
            List<ManagedChannel> channels = new ArrayList<>();
            for (int i = 0; i < CHANNELS; i++) {
                channels.add(ends.newChannel(i == 0 ? LIMIT : 16 << 20));
            }
            while (arrived.sum() < until && wrong.isEmpty()) {
                while (running.get() < STREAMS) {
                    subscribe(channels.get(random.nextInt(CHANNELS)));
                }
                number = publish(gapless, newest, number);
                if (random.nextInt(50) == 0) {
                    echo(channels.get(random.nextInt(CHANNELS)), number);
                }
                if (random.nextInt(500) == 0) {
                    ManagedChannel reset = channels.set(1 + random.nextInt(CHANNELS - 1), ends.newChannel());
                    reset.shutdownNow();
                }
            }
            // in the middle: messages wait, some are half-way
            ends.server.shutdownNow();
            for (int i = 0; i < PACKED; i++) {
                number = publish(gapless, newest, number);
            }
            channels.forEach(ManagedChannel::shutdownNow);
        }
        try {
            BroadcastTest.await(() -> {
                open.forEach(Asking::askForMore);
                return running.get() == 0;
            });
        } catch (AssertionError hangs) {
            throw new AssertionError(
                    "calls without an end: wire=" + wire + " calls=" + open + " wrong=" + List.copyOf(wrong), hangs);
        }
        return number;
    }

    private long publish(Broadcast gapless, Broadcast newest, long number) throws InterruptedException {
        if (random.nextInt(50) == 0) {
            publish(gapless, newest, BytesValue.getDefaultInstance());
        }
        int size = Long.BYTES + (random.nextInt(20) == 0 ? random.nextInt(70_000) : random.nextInt(2_000));
        publish(gapless, newest, Feed.message(number, size));
        return number + 1;
    }

    private void publish(Broadcast gapless, Broadcast newest, BytesValue value) throws InterruptedException {
        try (SealedBuffer message = sending.pack(Feed.SUBSCRIBE.getResponseMarshaller(), value)) {
            gapless.publish(message);
            newest.publish(message);
        }
    }

    /// A call that gRPC may have forgotten: when a connection has ended, and messages wait, the end comes behind
    /// them, and a cancel, a deadline or a request at that moment is lost.
    private interface Asking {
        void askForMore();
    }

    private void begun(Asking call) {
        open.add(call);
        running.incrementAndGet();
    }

    private void over(Asking call) {
        ended.increment();
        open.remove(call);
        running.decrementAndGet();
    }

    private CallOptions options() {
        return random.nextInt(4) == 0
                ? CallOptions.DEFAULT.withDeadlineAfter(random.nextInt(200), TimeUnit.MILLISECONDS)
                : CallOptions.DEFAULT;
    }

    /// A sealed message to the server and back; its caller closes it at once.
    private void echo(ManagedChannel channel, long number) {
        CallOptions options = random.nextBoolean() ? options() : options().withCompression("gzip");
        ClientCall<SealedBuffer, SealedBuffer> call = ClientInterceptors.intercept(channel, calls)
                .newCall(receiving.requests(receiving.responses(Feed.ECHO)), options);
        Echoed echo = new Echoed(call, number);
        begun(echo);
        call.start(echo, new Metadata());
        call.request(2);
        try (SealedBuffer message =
                receiving.pack(Feed.ECHO.getRequestMarshaller(), Feed.message(number, 8 + random.nextInt(5_000)))) {
            call.sendMessage(message);
        }
        call.halfClose();
        if (random.nextInt(4) == 0) {
            call.cancel("enough", null);
        }
    }

    private void subscribe(ManagedChannel channel) {
        CallOptions options = options();
        boolean gapless = random.nextBoolean();
        if (random.nextBoolean()) {
            start(channel, GAPLESS_OR_NEWEST[gapless ? 0 : 1], options, ChaosTest::check, gapless);
        } else {
            start(
                    channel,
                    receiving.responses(GAPLESS_OR_NEWEST[gapless ? 0 : 1]),
                    options,
                    this::checkAndClose,
                    gapless);
        }
    }

    private static final MethodDescriptor<StringValue, BytesValue>[] GAPLESS_OR_NEWEST = methods();

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static MethodDescriptor<StringValue, BytesValue>[] methods() {
        return new MethodDescriptor[] {
            Feed.SUBSCRIBE,
            Feed.SUBSCRIBE.toBuilder()
                    .setFullMethodName(MethodDescriptor.generateFullMethodName(Feed.SERVICE, "Newest"))
                    .build()
        };
    }

    private ServerServiceDefinition service(Broadcast gapless, Broadcast newest) {
        ServerServiceDefinition.Builder service = ServerServiceDefinition.builder(Feed.SERVICE)
                .addMethod(sending.responses(GAPLESS_OR_NEWEST[0]), gapless.asHandler())
                .addMethod(sending.responses(GAPLESS_OR_NEWEST[1]), newest.asHandler());
        Echo.service(receiving).getMethods().forEach(service::addMethod);
        return ServerInterceptors.intercept(service.build(), calls, new Compressing());
    }

    /// Compresses what is sent to the streams that ask for it.
    private static final class Compressing implements ServerInterceptor {

        @Override
        public <Q, R> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
            if (headers.containsKey(COMPRESSED)) {
                call.setCompression("gzip");
            }
            return next.startCall(call, headers);
        }
    }

    private static long check(BytesValue message) {
        return message.getValue().isEmpty() ? EMPTY : Feed.check(message);
    }

    private long checkAndClose(SealedBuffer message) {
        long number;
        try (message) {
            number = check(receiving.unpack(Feed.SUBSCRIBE.getResponseMarshaller(), message));
        }
        try {
            message.iovec();
            wrong.add("read after close: number=" + number);
        } catch (ReleasedBufferException expected) {
            // as it should be
        }
        return number;
    }

    private <T> void start(
            ManagedChannel channel,
            MethodDescriptor<StringValue, T> method,
            CallOptions options,
            ToLongFunction<T> check,
            boolean gapless) {
        ClientCall<StringValue, T> call = channel.newCall(method, options);
        Metadata headers = new Metadata();
        if (random.nextInt(4) == 0) {
            headers.put(COMPRESSED, "gzip");
        }
        Subscriber<T> subscriber =
                new Subscriber<>(call, check, gapless, random.nextInt(2_000), random.nextInt(10) == 0);
        begun(subscriber);
        call.start(subscriber, headers);
        call.sendMessage(StringValue.of("topic"));
        call.halfClose();
        call.request(1 + random.nextInt(4));
    }

    private final class Subscriber<T> extends ClientCall.Listener<T> implements Asking {

        private final ClientCall<StringValue, T> call;
        private final ToLongFunction<T> check;
        private final boolean gapless;
        private final boolean slow;
        private int left;
        private long last = -1;

        Subscriber(
                ClientCall<StringValue, T> call, ToLongFunction<T> check, boolean gapless, int messages, boolean slow) {
            this.call = call;
            this.check = check;
            this.gapless = gapless;
            this.left = messages;
            this.slow = slow;
        }

        @Override
        public void askForMore() {
            call.request(1);
        }

        @Override
        public String toString() {
            return "subscriber left=" + left + " last=" + last + " gapless=" + gapless + " slow=" + slow + " " + call;
        }

        @Override
        public void onMessage(T message) {
            try {
                long number = check.applyAsLong(message);
                if (number != EMPTY && last >= 0 && (gapless ? number != last + 1 : number <= last)) {
                    wrong.add("out of order: last=" + last + " number=" + number + " gapless=" + gapless);
                }
                last = number == EMPTY ? last : number;
                arrived.increment();
                if (slow) {
                    Thread.sleep(1);
                }
            } catch (Throwable failure) {
                wrong.add(failure.toString());
            }
            if (--left < 0) {
                call.cancel("enough", null);
            } else {
                call.request(1);
            }
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            if (("" + status.getDescription()).contains("exceeds maximum size " + LIMIT)) {
                overLimit.increment();
            }
            over(this);
        }
    }

    private final class Echoed extends ClientCall.Listener<SealedBuffer> implements Asking {

        private final ClientCall<SealedBuffer, SealedBuffer> call;
        private final long sent;

        Echoed(ClientCall<SealedBuffer, SealedBuffer> call, long sent) {
            this.call = call;
            this.sent = sent;
        }

        @Override
        public void askForMore() {
            call.request(1);
        }

        @Override
        public String toString() {
            return "echo of " + sent;
        }

        @Override
        public void onMessage(SealedBuffer message) {
            try {
                long number = checkAndClose(message);
                if (number != sent) {
                    wrong.add("echo of another message: sent=" + sent + " number=" + number);
                }
                echoed.increment();
            } catch (Throwable failure) {
                wrong.add(failure.toString());
            }
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            over(this);
        }
    }
}
