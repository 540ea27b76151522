// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.serializers;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.util.Utf8;

final class AvroSerializer implements Serializer<GenericRecord> {

    @Override
    public GenericRecord example(int bytes) {
        Order order = Order.of(bytes);
        GenericRecord record = new GenericData.Record(SCHEMA);
        record.put("number", order.number());
        record.put("customer", new Utf8(order.customer()));
        record.put("picture", ByteBuffer.wrap(order.picture()));
        return record;
    }

    // page
    private static final Schema SCHEMA = SchemaBuilder.record("Order")
            .fields()
            .requiredLong("number")
            .requiredString("customer")
            .requiredBytes("picture")
            .endRecord();

    @Override
    public void write(GenericRecord order, BufferBuilder builder) throws IOException {
        BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(builder.asOutputStream(), null);
        new GenericDatumWriter<GenericRecord>(SCHEMA).write(order, encoder);
        encoder.flush();
    }

    @Override
    public GenericRecord read(SealedBuffer message) throws IOException {
        BinaryDecoder decoder =
                DecoderFactory.get().binaryDecoder(message.iovec().asInputStream(), null);
        return new GenericDatumReader<GenericRecord>(SCHEMA).read(null, decoder);
    }
    // end of page
}
