// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.BytesValue;
import com.google.protobuf.StringValue;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.protobuf.ProtoUtils;
import java.nio.ByteBuffer;

/// A service as a generated class has it, of protobuf's own well-known types, and messages that tell whether each of
/// their bytes is right.
final class Feed {

    static final String SERVICE = "bulla.test.Feed";

    static final MethodDescriptor<StringValue, BytesValue> SUBSCRIBE =
            MethodDescriptor.<StringValue, BytesValue>newBuilder()
                    .setType(MethodType.SERVER_STREAMING)
                    .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "Subscribe"))
                    .setRequestMarshaller(ProtoUtils.marshaller(StringValue.getDefaultInstance()))
                    .setResponseMarshaller(ProtoUtils.marshaller(BytesValue.getDefaultInstance()))
                    .build();

    static final MethodDescriptor<BytesValue, BytesValue> ECHO = echo("Echo", MethodType.UNARY);
    static final MethodDescriptor<BytesValue, BytesValue> ECHO_ALL = echo("EchoAll", MethodType.BIDI_STREAMING);
    static final MethodDescriptor<BytesValue, BytesValue> LAST = echo("Last", MethodType.CLIENT_STREAMING);

    private static final int HEADER = Long.BYTES;

    private Feed() {}

    private static MethodDescriptor<BytesValue, BytesValue> echo(String name, MethodType type) {
        return MethodDescriptor.<BytesValue, BytesValue>newBuilder()
                .setType(type)
                .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
                .setRequestMarshaller(ProtoUtils.marshaller(BytesValue.getDefaultInstance()))
                .setResponseMarshaller(ProtoUtils.marshaller(BytesValue.getDefaultInstance()))
                .build();
    }

    /// @param size of the payload in bytes; one of fewer than eight has no room for its number
    static BytesValue message(long number, int size) {
        byte[] payload = new byte[size];
        if (size >= HEADER) {
            ByteBuffer.wrap(payload).putLong(number);
            for (int i = HEADER; i < size; i++) {
                payload[i] = pattern(number, i);
            }
        }
        return BytesValue.of(ByteString.copyFrom(payload));
    }

    /// @return the number of the message
    /// @throws AssertionError if a byte is another than was sent
    static long check(BytesValue message) {
        ByteBuffer payload = message.getValue().asReadOnlyByteBuffer();
        long number = payload.getLong();
        for (int i = HEADER; i < payload.limit(); i++) {
            if (payload.get(i) != pattern(number, i)) {
                throw new AssertionError("wrong byte: number=" + number + " offset=" + i + " size=" + payload.limit());
            }
        }
        return number;
    }

    private static byte pattern(long number, int offset) {
        return (byte) (number * 31 + offset * 7 + (offset >>> 8));
    }
}
