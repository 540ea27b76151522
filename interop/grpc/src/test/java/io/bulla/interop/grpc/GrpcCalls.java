// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import com.google.protobuf.BytesValue;
import com.google.protobuf.ExtensionRegistryLite;
import com.google.protobuf.Parser;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.Fanout;
import io.bulla.fanout.SlowPolicy;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultCatalogue.Member;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/// How the operations of `interop/grpc` are called: with observers, calls, channels, codecs, streams and memory that
/// may fail or call back.
final class GrpcCalls {

    private static final String MARSHALLER = "SealedMarshaller.";
    private static final BytesValue MESSAGE = Feed.message(7, 900);
    private static final Map<Class<?>, Function<FaultScene, Object>> VALUES = new HashMap<>();

    static {
        VALUES.put(int.class, scene -> 2);
        VALUES.put(long.class, scene -> 2L);
        VALUES.put(Object.class, scene -> "another");
        VALUES.put(Duration.class, scene -> Duration.ofMinutes(1));
        VALUES.put(Status.class, scene -> Status.ABORTED);
        VALUES.put(SlowPolicy.class, scene -> SlowPolicy.WAIT);
        VALUES.put(List.class, scene -> List.of(scene.buffer(30)));
        VALUES.put(MemorySource.class, FaultScene::source);
        VALUES.put(SealedBuffer.class, scene -> scene.buffer(300));
        VALUES.put(MethodDescriptor.class, scene -> Feed.ECHO);
        VALUES.put(MarshallerFigures.class, scene -> new MarshallerFigures(1, 2, 3, 4, 5));
    }

    private GrpcCalls() {}

    static FaultCatalogue all() {
        FaultCatalogue all = new FaultCatalogue("grpc", Broadcast.class)
                .values(VALUES::get)
                .records(VALUES::get)
                .receiver(Broadcast.Builder.class, scene -> Broadcast.builder())
                .receiver(SealedMarshaller.class, scene -> SealedMarshaller.of(scene.source()))
                .receiver(CallHandles.class, scene -> CallHandles.create());
        all.on(
                "Broadcast.of(Fanout)",
                scene -> FaultCall.on(null, scene.own(Fanout.builder().build())));
        all.on(
                "Broadcast.Builder.build()",
                scene -> FaultCall.on(Broadcast.builder().first(List.of(scene.buffer(30), scene.lastHandle()))));
        return parsed(marshallers(handles(BroadcastCalls.in(all))));
    }

    // codecs

    private static FaultCatalogue marshallers(FaultCatalogue all) {
        for (boolean drains : new boolean[] {false, true}) {
            all.on(MARSHALLER + "pack(MethodDescriptor.Marshaller, Object)", scene -> {
                Streams streams = new Streams(scene);
                return FaultCall.on(SealedMarshaller.of(scene.source()), streams.codec(drains), MESSAGE);
            });
        }
        all.on(MARSHALLER + "unpack(MethodDescriptor.Marshaller, SealedBuffer)", scene -> {
            Streams streams = new Streams(scene);
            return FaultCall.on(SealedMarshaller.of(scene.source()), streams.codec(false), packed(scene));
        });
        all.on(MARSHALLER + "stream(SealedBuffer)", scene -> {
            scene.mayVary();
            return FaultCall.on(SealedMarshaller.of(scene.source()), scene.buffer(300));
        });
        for (Streams.Kind kind : Streams.Kind.values()) {
            all.around(MARSHALLER + "parse(InputStream)", parse -> parse(parse, kind));
        }
        return all;
    }

    private static Operation parse(Member parse, Streams.Kind kind) {
        return scene -> {
            SealedMarshaller sealed = SealedMarshaller.of(scene.source());
            Streams streams = new Streams(scene);
            SealedBuffer local = packed(scene);
            return () -> {
                // gRPC closes what it handed over, whatever became of it
                try (InputStream received = streams.received(kind, sealed, local)) {
                    return scene.own(parse.on(sealed, received));
                }
            };
        };
    }

    static SealedBuffer packed(FaultScene scene) {
        byte[] content = MESSAGE.toByteArray();
        try (var builder = io.bulla.buffer.BufferBuilder.ofCapacity(scene.source(), content.length)) {
            return scene.watch(builder.put(content).seal(), content);
        }
    }

    private static FaultCatalogue parsed(FaultCatalogue all) {
        all.on(
                "ParsedMessage.parse(Parser, SealedBuffer)",
                scene -> FaultCall.on(null, parser(scene.points()), packed(scene)));
        all.on(
                "ParsedMessage.parse(Parser, ExtensionRegistryLite, SealedBuffer)",
                scene -> FaultCall.on(
                        null, parser(scene.points()), ExtensionRegistryLite.getEmptyRegistry(), packed(scene)));
        return all.receiver(ParsedMessage.class, scene -> {
            // of an address
            scene.mayVary();
            try {
                return scene.own(ParsedMessage.parse(BytesValue.parser(), packed(scene)));
            } catch (com.google.protobuf.InvalidProtocolBufferException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static Parser<?> parser(FaultPoints points) {
        return foreign(points, Parser.class, BytesValue.parser());
    }

    /// Each of its calls may fail, before or after it.
    static <T> T foreign(FaultPoints points, Class<T> type, T real) {
        return type.cast(Proxy.newProxyInstance(
                GrpcCalls.class.getClassLoader(), new Class<?>[] {type}, (self, method, given) -> {
                    String name = type.getSimpleName() + "." + method.getName();
                    points.reach(name);
                    try {
                        Object result = method.invoke(real, given);
                        points.reach(name + ", done");
                        return result;
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                }));
    }

    // calls

    private static FaultCatalogue handles(FaultCatalogue all) {
        for (boolean again : new boolean[] {false, true}) {
            for (boolean cancels : new boolean[] {false, true}) {
                all.around(
                        "CallHandles.interceptCall(MethodDescriptor, CallOptions, Channel)",
                        intercept -> clientCall(intercept, again, cancels));
            }
        }
        for (boolean cancels : new boolean[] {false, true}) {
            all.around(
                    "CallHandles.interceptCall(ServerCall, Metadata, ServerCallHandler)",
                    intercept -> serverCall(intercept, cancels));
        }
        return all;
    }

    /// Two messages sent, one received; whatever fails, gRPC says that the call is over.
    @SuppressWarnings("unchecked")
    private static Operation clientCall(Member intercept, boolean again, boolean cancels) {
        return scene -> {
            SealedMarshaller sealed = SealedMarshaller.of(scene.source());
            SealedBuffer message = scene.buffer(300);
            AtomicReference<ClientCall<?, ?>> made = new AtomicReference<>();
            scene.callBack("call.cancel", () -> {
                if (made.get() != null) {
                    made.get().cancel("enough", null);
                }
            });
            return () -> {
                CallHandles handles = again ? CallHandles.keepingForRetries() : CallHandles.create();
                FaultyChannel channel = new FaultyChannel(scene.points());
                FaultyChannel.Receiver receiver = new FaultyChannel.Receiver(scene.points());
                made.set(null);
                try {
                    ClientCall<SealedBuffer, SealedBuffer> call = (ClientCall<SealedBuffer, SealedBuffer>) intercept.on(
                            handles, sealed.requests(sealed.responses(Feed.ECHO)), CallOptions.DEFAULT, channel);
                    made.set(call);
                    call.start(receiver, new Metadata());
                    call.request(2);
                    call.sendMessage(message);
                    call.sendMessage(message);
                    if (cancels) {
                        call.cancel("enough", null);
                    } else {
                        call.halfClose();
                        channel.respond(sealed, message);
                    }
                    return handles.forgotten() + " " + handles.undelivered() + " " + receiver.got;
                } finally {
                    channel.end(Status.OK);
                }
            };
        };
    }

    private static Operation serverCall(Member intercept, boolean cancels) {
        return scene -> {
            SealedMarshaller sealed = SealedMarshaller.of(scene.source());
            SealedBuffer message = scene.buffer(300);
            return () -> {
                CallHandles handles = CallHandles.create();
                FaultyServerCall call = new FaultyServerCall(scene.points(), sealed);
                ServerCallHandler<SealedBuffer, SealedBuffer> service = (given, headers) -> {
                    scene.points().reach("ServerCallHandler.startCall");
                    given.request(1);
                    return new FaultyServerCall.Service(scene.points(), given);
                };
                @SuppressWarnings("unchecked")
                ServerCall.Listener<SealedBuffer> listener =
                        (ServerCall.Listener<SealedBuffer>) intercept.on(handles, call, new Metadata(), service);
                try {
                    listener.onMessage(message.share());
                    listener.onHalfClose();
                    return handles.forgotten() + " " + call.sent;
                } finally {
                    if (cancels) {
                        listener.onCancel();
                    } else {
                        listener.onComplete();
                    }
                }
            };
        };
    }
}
