// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.serializers;

import com.google.flatbuffers.FlatBufferBuilder;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

final class FlatBuffersSerializer implements Serializer<Order> {

    @Override
    public Order example(int bytes) {
        return Order.of(bytes);
    }

    // page
    @Override
    public void write(Order order, BufferBuilder builder) {
        FlatBufferBuilder flat = new FlatBufferBuilder();
        int customer = flat.createString(order.customer());
        int picture = flat.createByteVector(order.picture());
        flat.finish(OrderTable.createOrderTable(flat, order.number(), customer, picture));
        builder.put(MemorySegment.ofBuffer(flat.dataBuffer())); // written from its end on, so copied once it is whole
    }

    @Override
    public Order read(SealedBuffer message) {
        IoVec bytes = message.iovec();
        boolean isOne = bytes.regionCount() == 1; // a table is one byte buffer
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment whole = isOne ? bytes.asSegment() : bytes.toSegment(memory);
            OrderTable table = OrderTable.getRootAsOrderTable(whole.asByteBuffer());
            ByteBuffer view = table.pictureAsByteBuffer();
            byte[] picture = new byte[view.remaining()];
            view.get(picture);
            return new Order(table.number(), table.customer(), picture);
        }
    }
    // end of page
}
