// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.serializers;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import java.io.IOException;
import org.apache.fory.Fory;
import org.apache.fory.io.ForyInputStream;

final class ForySerializer implements Serializer<Order> {

    private final Fory fory = fory();

    @Override
    public Order example(int bytes) {
        return Order.of(bytes);
    }

    // page
    static Fory fory() { // one for each thread
        Fory fory =
                Fory.builder().withXlang(false).requireClassRegistration(true).build();
        fory.register(Order.class);
        return fory;
    }

    @Override
    public void write(Order order, BufferBuilder builder) {
        fory.serialize(builder.asOutputStream(), order);
    }

    @Override
    public Order read(SealedBuffer message) throws IOException {
        try (ForyInputStream stream = new ForyInputStream(message.iovec().asInputStream())) {
            return fory.deserialize(stream, Order.class);
        }
    }
    // end of page
}
