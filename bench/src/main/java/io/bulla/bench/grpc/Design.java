// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.grpc;

import com.google.protobuf.ListValue;
import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Locale;

/// How a server sends one message to many streams.
enum Design {
    /// As a generated stub does: gRPC serializes the message for each stream.
    PLAIN,
    /// Serialized once into an array, with the marshaller that is written by hand for it: a `ByteArrayInputStream`.
    ARRAY,
    /// The transport's own cost: one array that exists already, drained by one write.
    FLOOR,
    /// Packed once, sealed, sent by a `Broadcast`.
    SHARED;

    static final Marshaller<byte[]> ARRAYS = new Marshaller<>() {
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
    };

    static final Marshaller<byte[]> DRAINED = new Marshaller<>() {
        @Override
        public InputStream stream(byte[] value) {
            return new Drained(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            return ARRAYS.parse(stream);
        }
    };

    <Q, R> MethodDescriptor<Q, R> method(Marshaller<Q> requests, Marshaller<R> responses) {
        return method(name().toLowerCase(Locale.ROOT), requests, responses);
    }

    static <Q, R> MethodDescriptor<Q, R> method(String name, Marshaller<Q> requests, Marshaller<R> responses) {
        return MethodDescriptor.<Q, R>newBuilder()
                .setType(MethodType.SERVER_STREAMING)
                .setFullMethodName("bulla.bench.Feed/" + name)
                .setRequestMarshaller(requests)
                .setResponseMarshaller(responses)
                .build();
    }

    /// About so many bytes in 200 fields.
    static ListValue message(int bytes) {
        int fields = 200;
        ListValue.Builder message = ListValue.newBuilder();
        String text = "x".repeat(Math.max(1, bytes / fields - (bytes / fields > 130 ? 6 : 4)));
        for (int i = 0; i < fields; i++) {
            message.addValuesBuilder().setStringValue(text);
        }
        return message.build();
    }

    private static final class Drained extends ByteArrayInputStream implements Drainable, KnownLength {

        Drained(byte[] bytes) {
            super(bytes);
        }

        @Override
        public int drainTo(OutputStream target) throws IOException {
            int length = count - pos;
            target.write(buf, pos, length);
            pos = count;
            return length;
        }
    }
}
