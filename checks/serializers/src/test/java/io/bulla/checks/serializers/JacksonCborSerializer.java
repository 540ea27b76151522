// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.serializers;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import java.io.IOException;
import java.io.InputStream;

final class JacksonCborSerializer implements Serializer<Order> {

    @Override
    public Order example(int bytes) {
        return Order.of(bytes);
    }

    // page
    private final ObjectMapper mapper = CBORMapper.builder().build();

    @Override
    public void write(Order order, BufferBuilder builder) throws IOException {
        mapper.writeValue(builder.asOutputStream(), order);
    }

    @Override
    public Order read(SealedBuffer message) throws IOException {
        try (InputStream stream = message.iovec().asInputStream()) {
            return mapper.readValue(stream, Order.class);
        }
    }
    // end of page
}
