// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.SealedBuffer;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import java.io.InputStream;

/// A method's own messages, which travel as sealed buffers at both ends: what gRPC's tests send and receive goes
/// through our marshaller.
record SealedCodec<T>(SealedMarshaller sealed, Marshaller<T> codec) implements Marshaller<T> {

    @Override
    public InputStream stream(T value) {
        try (SealedBuffer packed = sealed.pack(codec, value)) {
            return sealed.stream(packed);
        }
    }

    @Override
    public T parse(InputStream stream) {
        try (SealedBuffer message = sealed.parse(stream)) {
            return sealed.unpack(codec, message);
        }
    }

    static <Q, R> MethodDescriptor<Q, R> of(SealedMarshaller sealed, MethodDescriptor<Q, R> method) {
        return method.toBuilder(
                        new SealedCodec<>(sealed, method.getRequestMarshaller()),
                        new SealedCodec<>(sealed, method.getResponseMarshaller()))
                .build();
    }

    static ServerServiceDefinition of(SealedMarshaller sealed, ServerServiceDefinition service) {
        ServerServiceDefinition.Builder changed =
                ServerServiceDefinition.builder(service.getServiceDescriptor().getName());
        service.getMethods().forEach(method -> changed.addMethod(of(sealed, method)));
        return changed.build();
    }

    private static <Q, R> ServerMethodDefinition<Q, R> of(
            SealedMarshaller sealed, ServerMethodDefinition<Q, R> method) {
        return ServerMethodDefinition.create(of(sealed, method.getMethodDescriptor()), method.getServerCallHandler());
    }

    static ClientInterceptor client(SealedMarshaller sealed) {
        return new ClientInterceptor() {
            @Override
            public <Q, R> ClientCall<Q, R> interceptCall(
                    MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
                return next.newCall(of(sealed, method), options);
            }
        };
    }
}
