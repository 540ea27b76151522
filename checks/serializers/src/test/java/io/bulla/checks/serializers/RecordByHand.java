// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.serializers;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import java.lang.foreign.MemorySegment;

final class RecordByHand implements Serializer<Order> {

    @Override
    public Order example(int bytes) {
        return Order.of(bytes);
    }

    // page
    @Override
    public void write(Order order, BufferBuilder builder) {
        Packer.into(builder, WireFormat.PMIX_4)
                .packInt64(order.number())
                .packString(order.customer())
                .packByteObject(order.picture());
    }

    @Override
    public Order read(SealedBuffer message) {
        Unpacker unpacker = Unpacker.of(message, WireFormat.PMIX_4);
        long number = unpacker.unpackInt64();
        String customer = unpacker.unpackString();
        IoVec picture = unpacker.unpackByteObject(); // a view: nothing is copied before the next lines
        byte[] own = new byte[(int) picture.byteSize()];
        picture.copyTo(0, MemorySegment.ofArray(own), own.length);
        return new Order(number, customer, own);
    }
    // end of page
}
