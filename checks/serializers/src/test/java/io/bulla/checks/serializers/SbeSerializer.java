// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.serializers;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.checks.serializers.sbe.MessageHeaderDecoder;
import io.bulla.checks.serializers.sbe.MessageHeaderEncoder;
import io.bulla.checks.serializers.sbe.OrderDecoder;
import io.bulla.checks.serializers.sbe.OrderEncoder;
import io.bulla.interop.agrona.BuilderDirectBuffer;
import io.bulla.interop.agrona.SealedDirectBuffer;
import io.bulla.iovec.IoVec;
import java.lang.foreign.Arena;

/// With codecs that SBE's tool generates while this module is built.
final class SbeSerializer implements Serializer<Order> {

    @Override
    public Order example(int bytes) {
        return Order.of(bytes);
    }

    // page
    @Override
    public void write(Order order, BufferBuilder builder) {
        OrderEncoder encoder =
                new OrderEncoder().wrapAndApplyHeader(BuilderDirectBuffer.of(builder), 0, new MessageHeaderEncoder());
        encoder.number(order.number()).customer(order.customer());
        encoder.putPicture(order.picture(), 0, order.picture().length);
    }

    @Override
    public Order read(SealedBuffer message) {
        IoVec bytes = message.iovec();
        boolean isOne = bytes.regionCount() == 1; // an Agrona buffer is one piece
        try (Arena memory = Arena.ofConfined()) {
            IoVec whole = isOne ? bytes : IoVec.of(bytes.toSegment(memory));
            OrderDecoder decoder =
                    new OrderDecoder().wrapAndApplyHeader(SealedDirectBuffer.of(whole), 0, new MessageHeaderDecoder());
            long number = decoder.number();
            String customer = decoder.customer();
            byte[] picture = new byte[decoder.pictureLength()];
            decoder.getPicture(picture, 0, picture.length);
            return new Order(number, customer, picture);
        }
    }
    // end of page
}
