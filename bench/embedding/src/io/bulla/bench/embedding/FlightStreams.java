// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.embedding;

import com.google.protobuf.ListValue;
import io.bulla.bench.embedding.Embedding.Way;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.grpc.SealedMarshaller;
import io.grpc.Drainable;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.arrow.flight.FlightMessages;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/// A record batch to many Flight streams, up to gRPC's buffer.
final class FlightStreams implements Embedding.Layer {

    private static final int STREAMS = 50;
    private static final int COLUMNS = 20;

    private final RootAllocator allocator = new RootAllocator();
    private final VectorSchemaRoot root;
    private final Map<String, Way> ways = new LinkedHashMap<>();

    FlightStreams(ArenaSource memory, ListValue message) {
        root = root(allocator, message.getSerializedSize());
        FlightMessages messages = new FlightMessages(allocator);
        Direct grpc = new Direct(message.getSerializedSize() * 2);
        ways.put("as-it-is", () -> {
            for (int i = 0; i < STREAMS; i++) {
                drain(messages.next(root), grpc);
            }
        });
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        Marshaller<VectorSchemaRoot> codec = new Marshaller<>() {
            @Override
            public InputStream stream(VectorSchemaRoot value) {
                return messages.next(value);
            }

            @Override
            public VectorSchemaRoot parse(InputStream stream) {
                throw new UnsupportedOperationException("sends only");
            }
        };
        ways.put("sealed", () -> {
            try (SealedBuffer packed = sealed.pack(codec, root)) {
                for (int i = 0; i < STREAMS; i++) {
                    drain(sealed.stream(packed), grpc);
                }
            }
        });
    }

    /// A batch of about so many bytes.
    static VectorSchemaRoot root(BufferAllocator allocator, int bytes) {
        int rows = bytes / COLUMNS / Long.BYTES;
        List<FieldVector> columns = IntStream.range(0, COLUMNS)
                .<FieldVector>mapToObj(i -> column(allocator, "column" + i, rows))
                .toList();
        VectorSchemaRoot root = new VectorSchemaRoot(columns);
        root.setRowCount(rows);
        return root;
    }

    private static BigIntVector column(BufferAllocator allocator, String name, int rows) {
        BigIntVector column = new BigIntVector(name, allocator);
        column.allocateNew(rows);
        for (int i = 0; i < rows; i++) {
            column.set(i, i);
        }
        column.setValueCount(rows);
        return column;
    }

    private static void drain(InputStream stream, Direct target) throws IOException {
        try (stream) {
            target.bytes.clear();
            ((Drainable) stream).drainTo(target);
        }
    }

    @Override
    public Map<String, Way> ways() {
        return ways;
    }

    @Override
    public int receivers() {
        return STREAMS;
    }

    @Override
    public void close() {
        root.close();
        allocator.close();
    }

    /// In place of gRPC's buffer, which takes arrays.
    private static final class Direct extends OutputStream {

        private final ByteBuffer bytes;

        Direct(int capacity) {
            bytes = ByteBuffer.allocateDirect(capacity);
        }

        @Override
        public void write(int b) {
            bytes.put((byte) b);
        }

        @Override
        public void write(byte[] source, int offset, int length) {
            bytes.put(source, offset, length);
        }
    }
}
