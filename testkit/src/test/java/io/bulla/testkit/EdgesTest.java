// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.google.protobuf.ByteString;
import com.google.protobuf.BytesValue;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Struct;
import com.google.protobuf.UnsafeByteOperations;
import com.google.protobuf.Value;
import com.sun.management.ThreadMXBean;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.agrona.BuilderDirectBuffer;
import io.bulla.interop.agrona.SealedDirectBuffer;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.agrona.MutableDirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Other libraries write into a builder and read out of what was sealed, with no array of the message's size between;
/// in a JVM without any flag.
@ExtendWith(NoOpenHandles.class)
class EdgesTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int MIB = 1 << 20;

    private interface Writer {
        void to(BufferBuilder builder) throws Exception;
    }

    private interface Reader<T> {
        T from(SealedBuffer buffer) throws Exception;
    }

    private static <T> T through(MemorySource source, Writer writer, Reader<T> reader) throws Exception {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, MIB + 64)) {
            writer.to(builder);
            try (SealedBuffer buffer = builder.seal()) {
                return reader.from(buffer);
            }
        }
    }

    @Test
    void protobufWritesToTheStreamAndReadsTheStreamOrTheViews(MemorySource source) throws Exception {
        Struct message = struct(1000);
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            message.writeTo(builder.asOutputStream());
            try (SealedBuffer buffer = builder.seal()) {
                assertTrue(
                        buffer.iovec().regionCount() > 1,
                        "regions=" + buffer.iovec().regionCount());
                try (InputStream stream = buffer.iovec().asInputStream()) {
                    assertEquals(message, Struct.parseFrom(stream));
                }
                assertEquals(
                        message,
                        Struct.parseFrom(CodedInputStream.newInstance(
                                Arrays.asList(buffer.iovec().asByteBuffers()))));
            }
        }
    }

    @Test
    void jacksonWritesToTheStreamAndReadsTheStream(MemorySource source) throws Exception {
        ObjectMapper mapper = JsonMapper.builder().build();
        JsonNode message = mapper.valueToTree(
                IntStream.range(0, 1000).mapToObj(i -> new Job("job-" + i, i)).toList());
        JsonNode read = through(source, builder -> mapper.writeValue(builder.asOutputStream(), message), buffer -> {
            try (InputStream stream = buffer.iovec().asInputStream()) {
                return mapper.readTree(stream);
            }
        });
        assertEquals(message, read);
    }

    record Job(String name, int ranks) {}

    /// Header, group and text, the header last, as SBE's encoders write.
    @Test
    void agronasWriterWritesToTheBuilderAndItsReaderReadsTheSealedBytes() throws Exception {
        try (ArenaSource source = ArenaSource.create();
                BufferBuilder builder = BufferBuilder.ofCapacity(source, MIB)) {
            MutableDirectBuffer buffer = BuilderDirectBuffer.of(builder);
            int limit = 8;
            for (int i = 0; i < 100; i++) {
                buffer.putInt(limit, i);
                buffer.putDouble(limit + 4, i / 3.0);
                limit += 12;
            }
            limit += buffer.putStringUtf8(limit, "h\u00e9llo");
            buffer.putShort(0, (short) 100);
            buffer.putInt(4, limit);
            try (SealedBuffer sealed = builder.seal()) {
                SealedDirectBuffer read = SealedDirectBuffer.of(sealed.iovec());
                assertEquals(limit, read.capacity());
                assertEquals(100, read.getShort(0));
                assertEquals(limit, read.getInt(4));
                for (int i = 0; i < 100; i++) {
                    assertEquals(i, read.getInt(8 + 12 * i));
                    assertEquals(i / 3.0, read.getDouble(12 + 12 * i));
                }
                assertEquals("h\u00e9llo", read.getStringUtf8(1208));
                try (BufferBuilder second = BufferBuilder.create(source)) {
                    read.getBytes(0, BuilderDirectBuffer.of(second), 0, limit);
                    try (SealedBuffer copy = second.seal()) {
                        assertEquals(sealed.iovec(), copy.iovec());
                    }
                }
            }
        }
    }

    @Test
    void payloadOfAMebibyteNeedsNoArrayOfItsSize() throws Exception {
        byte[] payload = new byte[MIB];
        Arrays.fill(payload, (byte) 'x');
        BytesValue message = BytesValue.of(UnsafeByteOperations.unsafeWrap(payload));
        ObjectMapper mapper = JsonMapper.builder().build();
        JsonNode text = mapper.valueToTree(new String(payload, StandardCharsets.US_ASCII));
        byte[] back = new byte[64 << 10];
        try (ArenaSource source = ArenaSource.create()) {
            noArray(
                    "protobuf to the stream",
                    () -> through(
                            source,
                            builder -> {
                                OutputStream stream = builder.asOutputStream();
                                CodedOutputStream coded = CodedOutputStream.newInstance(stream, 4096);
                                message.writeTo(coded);
                                coded.flush();
                            },
                            EdgesTest::protobufView));
            noArray(
                    "jackson",
                    () -> through(source, builder -> mapper.writeValue(builder.asOutputStream(), text), buffer -> {
                        long sum = 0;
                        try (InputStream stream = buffer.iovec().asInputStream()) {
                            for (int n = stream.read(back); n >= 0; n = stream.read(back)) {
                                sum += n;
                            }
                        }
                        assertEquals(MIB + 2, sum);
                        return sum;
                    }));
            noArray(
                    "agrona",
                    () -> through(
                            source,
                            builder -> {
                                BuilderDirectBuffer buffer = BuilderDirectBuffer.of(builder);
                                buffer.putBytes(16, payload);
                                buffer.putLong(0, MIB);
                                buffer.putLong(8, -1);
                            },
                            buffer -> {
                                assertEquals(MIB + 16, buffer.byteSize());
                                return null;
                            }));
        }
    }

    /// The payload as a view of the sealed bytes, which protobuf takes for immutable when it is told.
    private static Object protobufView(SealedBuffer buffer) throws Exception {
        ByteString whole = UnsafeByteOperations.unsafeWrap(buffer.iovec().asByteBuffers()[0]);
        CodedInputStream coded = whole.newCodedInput();
        coded.enableAliasing(true);
        coded.readTag();
        ByteString value = coded.readBytes();
        assertEquals(MIB, value.size());
        return value.byteAt(MIB - 1);
    }

    private interface Work {
        Object run() throws Exception;
    }

    /// The least of several: the first times, classes are loaded.
    private static void noArray(String what, Work work) throws Exception {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            work.run();
            least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
        }
        assertTrue(least < MIB / 4, what + " allocates: bytes=" + least);
        System.out.println(what + " bytes=" + least);
    }

    private static Struct struct(int fields) {
        Struct.Builder message = Struct.newBuilder();
        for (int i = 0; i < fields; i++) {
            message.putFields(
                    "key-" + i,
                    Value.newBuilder().setStringValue("value ".repeat(i % 20)).build());
        }
        return message.build();
    }
}
