// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.embedding;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.ListValue;
import io.bulla.bench.embedding.Embedding.Way;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.pekko.util.ByteString;

/// What Artery TCP does with a message for each association, up to the socket: the serializer writes into an
/// envelope, the envelope becomes a string of bytes, that is copied into the direct buffer of the write.
final class PekkoAssociations implements Embedding.Layer {

    private static final int ASSOCIATIONS = 50;

    private final Map<String, Way> ways = new LinkedHashMap<>();

    PekkoAssociations(ArenaSource memory, ListValue message) {
        ByteBuffer envelope = ByteBuffer.allocateDirect(message.getSerializedSize() + 4096);
        ByteBuffer write = ByteBuffer.allocateDirect(envelope.capacity());
        ByteString header = ByteString.fromArray(new byte[4]);
        ways.put("as-it-is", () -> {
            for (int i = 0; i < ASSOCIATIONS; i++) {
                // the serializer of pekko-remote for protobuf makes an array
                envelope.clear().put(message.toByteArray()).flip();
                header.concat(ByteString.fromByteBuffer(envelope)).copyToBuffer(write.clear());
            }
        });
        ways.put("string-once", () -> {
            ByteString once = ByteString.fromArrayUnsafe(message.toByteArray());
            for (int i = 0; i < ASSOCIATIONS; i++) {
                header.concat(once).copyToBuffer(write.clear());
            }
        });
        // a stage that has the regions could hand them to the channel; counted with one copy, as above
        ways.put("sealed", () -> {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, message.getSerializedSize())) {
                CodedOutputStream out = CodedOutputStream.newInstance(builder.asOutputStream());
                message.writeTo(out);
                out.flush();
                try (SealedBuffer sealed = builder.seal()) {
                    for (int i = 0; i < ASSOCIATIONS; i++) {
                        header.copyToBuffer(write.clear());
                        for (ByteBuffer region : sealed.iovec().asByteBuffers()) {
                            write.put(region);
                        }
                    }
                }
            }
        });
    }

    @Override
    public Map<String, Way> ways() {
        return ways;
    }

    @Override
    public int receivers() {
        return ASSOCIATIONS;
    }

    @Override
    public void close() {}
}
