// SPDX-License-Identifier: Apache-2.0
import com.google.protobuf.ListValue;
import com.google.protobuf.StringValue;
import com.google.protobuf.Value;
import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.SlowPolicy;
import io.bulla.interop.grpc.Broadcast;
import io.bulla.interop.grpc.SealedMarshaller;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A feed server and its subscribers, which are in other processes.
 *
 * <p>java GrpcFeed --shared|--plain [--quiet] [SUBSCRIBERS [MESSAGES [PROCESSES]]]: with --shared a message is packed
 * once, with --plain gRPC serializes it for each subscriber. Each subscriber looks at the number in every message.
 */
public final class GrpcFeed {

    private static final int FIELDS = 200;
    private static final int CHANNELS = 4;

    private static final MethodDescriptor<StringValue, ListValue> SUBSCRIBE =
            MethodDescriptor.<StringValue, ListValue>newBuilder()
                    .setType(MethodType.SERVER_STREAMING)
                    .setFullMethodName("example.Feed/Subscribe")
                    .setRequestMarshaller(ProtoUtils.marshaller(StringValue.getDefaultInstance()))
                    .setResponseMarshaller(ProtoUtils.marshaller(ListValue.getDefaultInstance()))
                    .build();

    /** Sends a message to every subscriber. */
    interface Publisher {
        void publish(ListValue message) throws InterruptedException;

        void complete();
    }

    private GrpcFeed() {}

    public static void main(String[] args) throws Exception {
        List<String> words = new ArrayList<>(List.of(args));
        if (words.remove("--subscribe")) {
            subscribe(number(words, 0, 0), number(words, 1, 0), number(words, 2, 0));
            return;
        }
        boolean shared = words.remove("--shared");
        boolean plain = words.remove("--plain");
        boolean quiet = words.remove("--quiet");
        if (shared == plain) {
            System.err.println("GrpcFeed --shared|--plain [--quiet] [SUBSCRIBERS [MESSAGES [PROCESSES]]]");
            System.exit(2);
        }
        serve(shared, quiet, number(words, 0, 1000), number(words, 1, 100), number(words, 2, 1));
    }

    private static int number(List<String> words, int index, int otherwise) {
        return index < words.size() ? Integer.parseInt(words.get(index)) : otherwise;
    }

    private static void serve(boolean shared, boolean quiet, int subscribers, int messages, int processes)
            throws Exception {
        CountDownLatch subscribed = new CountDownLatch(subscribers);
        try (ArenaSource memory = ArenaSource.create();
                Broadcast broadcast = Broadcast.builder().slow(SlowPolicy.WAIT).build()) {
            List<ServerCallStreamObserver<ListValue>> observers = new CopyOnWriteArrayList<>();
            SealedMarshaller sealed = SealedMarshaller.of(memory);
            Server server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .addService(shared ? shared(sealed, broadcast, subscribed) : plain(observers, subscribed))
                    .build()
                    .start();
            List<Process> readers = new ArrayList<>();
            for (int i = 0; i < processes; i++) {
                readers.add(start(server.getPort(), subscribers * (i + 1) / processes - subscribers * i / processes, messages));
            }
            subscribed.await();
            Publisher publisher = shared ? publisher(sealed, broadcast) : publisher(observers);
            publish(publisher, messages, quiet, subscribers);
            boolean right = true;
            for (Process reader : readers) {
                right &= reader.waitFor() == 0;
            }
            server.shutdown().awaitTermination();
            System.out.println("grpc feed, " + (shared ? "shared: " : "plain: ") + subscribers + " subscribers, " + messages
                    + " messages each, " + (right ? "all right" : "NOT all right"));
            System.exit(right ? 0 : 1);
        }
    }

    private static void publish(Publisher publisher, int messages, boolean quiet, int subscribers)
            throws InterruptedException {
        long cpu = cpu();
        long heap = heap();
        for (int i = 0; i < messages; i++) {
            publisher.publish(message(i));
        }
        publisher.complete();
        if (!quiet) {
            long sends = (long) messages * subscribers;
            System.out.println("server, per message and subscriber: cpu=" + (cpu() - cpu) / sends + "ns heap="
                    + (heap() - heap) / sends + "B bytes=" + message(0).getSerializedSize());
        }
    }

    private static ServerServiceDefinition shared(SealedMarshaller sealed, Broadcast feed, CountDownLatch subscribed) {
        return ServerServiceDefinition.builder("example.Feed")
                .addMethod(sealed.responses(SUBSCRIBE), ServerCalls.asyncServerStreamingCall((topic, observer) -> {
                    feed.subscribe((ServerCallStreamObserver<SealedBuffer>) observer);
                    subscribed.countDown();
                }))
                .build();
    }

    private static Publisher publisher(SealedMarshaller sealed, Broadcast feed) {
        return new Publisher() {
            @Override
            public void publish(ListValue message) throws InterruptedException {
                try (SealedBuffer packed = sealed.pack(SUBSCRIBE.getResponseMarshaller(), message)) {
                    feed.publish(packed);
                }
            }

            @Override
            public void complete() {
                feed.complete();
            }
        };
    }

    private static ServerServiceDefinition plain(
            List<ServerCallStreamObserver<ListValue>> observers, CountDownLatch subscribed) {
        return ServerServiceDefinition.builder("example.Feed")
                .addMethod(SUBSCRIBE, ServerCalls.asyncServerStreamingCall((topic, observer) -> {
                    ServerCallStreamObserver<ListValue> stream = (ServerCallStreamObserver<ListValue>) observer;
                    stream.setOnReadyHandler(() -> {
                        synchronized (observers) {
                            observers.notifyAll();
                        }
                    });
                    observers.add(stream);
                    subscribed.countDown();
                }))
                .build();
    }

    private static Publisher publisher(List<ServerCallStreamObserver<ListValue>> observers) {
        return new Publisher() {
            @Override
            public void publish(ListValue message) throws InterruptedException {
                for (ServerCallStreamObserver<ListValue> observer : observers) {
                    synchronized (observers) {
                        while (!observer.isReady()) {
                            observers.wait();
                        }
                    }
                    observer.onNext(message);
                }
            }

            @Override
            public void complete() {
                observers.forEach(ServerCallStreamObserver::onCompleted);
            }
        };
    }

    private static ListValue message(int number) {
        ListValue.Builder fields = ListValue.newBuilder().addValues(Value.newBuilder().setNumberValue(number));
        for (int i = 1; i < FIELDS; i++) {
            fields.addValues(Value.newBuilder().setStringValue("field " + i + " of message " + number + " " + "x".repeat(50)));
        }
        return fields.build();
    }

    private static Process start(int port, int subscribers, int messages) throws Exception {
        return new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "--sun-misc-unsafe-memory-access=allow",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "GrpcFeed",
                        "--subscribe",
                        "" + port,
                        "" + subscribers,
                        "" + messages)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /** Of the other processes. */
    private static void subscribe(int port, int subscribers, int messages) throws Exception {
        List<ManagedChannel> channels = new ArrayList<>();
        for (int i = 0; i < CHANNELS; i++) {
            channels.add(NettyChannelBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                    .usePlaintext()
                    .build());
        }
        CountDownLatch ended = new CountDownLatch(subscribers);
        AtomicInteger right = new AtomicInteger();
        for (int i = 0; i < subscribers; i++) {
            Subscriber.start(channels.get(i % CHANNELS), messages, right, ended);
        }
        ended.await();
        for (ManagedChannel channel : channels) {
            channel.shutdown();
        }
        System.exit(right.get() == subscribers ? 0 : 1);
    }

    private static final class Subscriber extends ClientCall.Listener<ListValue> {

        private final ClientCall<StringValue, ListValue> call;
        private final int messages;
        private final AtomicInteger right;
        private final CountDownLatch ended;
        private int next;

        private Subscriber(
                ClientCall<StringValue, ListValue> call, int messages, AtomicInteger right, CountDownLatch ended) {
            this.call = call;
            this.messages = messages;
            this.right = right;
            this.ended = ended;
        }

        static void start(ManagedChannel channel, int messages, AtomicInteger right, CountDownLatch ended) {
            ClientCall<StringValue, ListValue> call = channel.newCall(SUBSCRIBE, CallOptions.DEFAULT);
            call.start(new Subscriber(call, messages, right, ended), new Metadata());
            call.sendMessage(StringValue.of("news"));
            call.halfClose();
            call.request(2);
        }

        @Override
        public void onMessage(ListValue message) {
            // one after the other, whole
            if (message.getValues(0).getNumberValue() == next && message.getValuesCount() == FIELDS) {
                next++;
            }
            call.request(1);
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            if (status.isOk() && next == messages) {
                right.incrementAndGet();
            }
            ended.countDown();
        }
    }

    private static long cpu() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static long heap() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getTotalThreadAllocatedBytes();
    }
}
