// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.serializers;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;

final class KryoSerializer implements Serializer<Order> {

    private final Kryo kryo = kryo();

    @Override
    public Order example(int bytes) {
        return Order.of(bytes);
    }

    // page
    static Kryo kryo() { // one for each thread
        Kryo kryo = new Kryo();
        kryo.register(Order.class);
        kryo.register(byte[].class);
        return kryo;
    }

    @Override
    public void write(Order order, BufferBuilder builder) {
        try (Output output = new Output(builder.asOutputStream(), 4096)) {
            kryo.writeObject(output, order);
        }
    }

    @Override
    public Order read(SealedBuffer message) {
        try (Input input = new Input(message.iovec().asInputStream(), 4096)) {
            return kryo.readObject(input, Order.class);
        }
    }
    // end of page
}
