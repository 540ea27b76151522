// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.serializers;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import java.io.IOException;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

final class MessagePackSerializer implements Serializer<Order> {

    @Override
    public Order example(int bytes) {
        return Order.of(bytes);
    }

    // page
    @Override
    public void write(Order order, BufferBuilder builder) throws IOException {
        try (MessagePacker packer = MessagePack.newDefaultPacker(builder.asOutputStream())) {
            packer.packLong(order.number()).packString(order.customer());
            packer.packBinaryHeader(order.picture().length).writePayload(order.picture());
        }
    }

    @Override
    public Order read(SealedBuffer message) throws IOException {
        try (MessageUnpacker unpacker =
                MessagePack.newDefaultUnpacker(message.iovec().asInputStream())) {
            long number = unpacker.unpackLong();
            String customer = unpacker.unpackString();
            return new Order(number, customer, unpacker.readPayload(unpacker.unpackBinaryHeader()));
        }
    }
    // end of page
}
