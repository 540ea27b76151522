// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.embedding;

import com.google.protobuf.ListValue;
import io.bulla.bench.embedding.Embedding.Way;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.TimestampType;

/// One value to many topics: what a producer's `send` does for each of them, up to the batch.
final class KafkaTopics implements Embedding.Layer {

    private static final int TOPICS = 50;

    private final ByteBuffer batch;
    private final Map<String, Way> ways = new LinkedHashMap<>();

    KafkaTopics(ArenaSource memory, ListValue message) {
        batch = ByteBuffer.allocate(message.getSerializedSize() + 1024);
        ways.put("as-it-is", () -> {
            for (int i = 0; i < TOPICS; i++) {
                append(ByteBuffer.wrap(message.toByteArray()));
            }
        });
        ways.put("array-once", () -> {
            ByteBuffer once = ByteBuffer.wrap(message.toByteArray());
            for (int i = 0; i < TOPICS; i++) {
                append(once.duplicate());
            }
        });
        ways.put("sealed", () -> {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, message.getSerializedSize())) {
                message.writeTo(builder.asOutputStream());
                try (SealedBuffer sealed = builder.seal()) {
                    for (int i = 0; i < TOPICS; i++) {
                        append(sealed.iovec().asByteBuffers()[0]);
                    }
                }
            }
        });
    }

    private void append(ByteBuffer value) {
        try (MemoryRecordsBuilder records =
                MemoryRecords.builder(batch.clear(), Compression.NONE, TimestampType.CREATE_TIME, 0)) {
            records.append(0, null, value);
        }
    }

    @Override
    public Map<String, Way> ways() {
        return ways;
    }

    @Override
    public int receivers() {
        return TOPICS;
    }

    @Override
    public void close() {}
}
