// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.serializers;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/// A message that protobuf itself brings, in place of a generated one.
final class ProtobufSerializer implements Serializer<Any> {

    @Override
    public Any example(int bytes) {
        return Any.newBuilder()
                .setTypeUrl("example.org/order")
                .setValue(ByteString.copyFrom(Order.of(bytes).picture()))
                .build();
    }

    // page
    @Override
    public void write(Any message, BufferBuilder builder) throws IOException {
        message.writeTo(builder.asOutputStream());
    }

    @Override
    public Any read(SealedBuffer message) throws IOException {
        List<ByteBuffer> views = List.of(message.iovec().asByteBuffers());
        return Any.parseFrom(CodedInputStream.newInstance(views));
    }
    // end of page
}
