// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import com.google.protobuf.CodedOutputStream;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// One item of a hundred strings of 18 characters.
///
/// One should see: packing at the cost of looking at each character once and copying it (`baselineIn` only
/// copies); the naive `arrays`, which goes through an array for each string and does not look for what C cannot
/// read, near it; protobuf's stream, which codes each character, behind. Unpacking at that of two heap objects
/// a string, as `baselineOut`.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
public class StringsBenchmark {

    private static final int COUNT = 100;
    private static final int ROOM = 1 << 12;

    @Param({"PMIX_4", "OPAL_DSS"})
    private WireFormat format;

    private final String[] strings = FormatValues.strings(COUNT);
    private ArenaSource source;
    private BufferBuilder builder;
    private Packer packer;
    private SealedBuffer buffer;
    private MemorySegment text;
    private final ByteBuffer direct = ByteBuffer.allocateDirect(ROOM);

    @Setup
    public void open() {
        source = ArenaSource.create();
        builder = BufferBuilder.ofCapacity(source, ROOM);
        packer = Packer.into(builder, format);
        try (BufferBuilder item = BufferBuilder.ofCapacity(source, ROOM)) {
            Packer.into(item, format).packStrings(strings);
            buffer = item.seal();
        }
        text = Arena.ofShared().allocate(ROOM);
        baselineIn();
    }

    @TearDown
    public void close() {
        buffer.close();
        builder.close();
        source.close();
    }

    @Benchmark
    public Packer pack() {
        builder.truncate(0);
        return packer.packStrings(strings);
    }

    /// Length, bytes and the end of each, as C has it.
    @Benchmark
    public ByteBuffer arrays() {
        ByteBuffer to = direct.clear().putInt(COUNT);
        for (String each : strings) {
            byte[] bytes = each.getBytes(StandardCharsets.UTF_8);
            to.putInt(bytes.length + 1).put(bytes).put((byte) 0);
        }
        return to;
    }

    @Benchmark
    public CodedOutputStream protobuf() throws IOException {
        CodedOutputStream to = CodedOutputStream.newInstance(direct.clear());
        for (String each : strings) {
            to.writeStringNoTag(each);
        }
        to.flush();
        return to;
    }

    @Benchmark
    public String[] unpack() {
        return Unpacker.of(buffer, format).unpackStrings();
    }

    /// The JDK's own way in, which neither looks for what C cannot read nor says how long the text is.
    @Benchmark
    public MemorySegment baselineIn() {
        long at = 0;
        for (String each : strings) {
            text.setString(at, each, StandardCharsets.ISO_8859_1);
            at += each.length() + 1;
        }
        return text;
    }

    /// The JDK's own way out.
    @Benchmark
    public String[] baselineOut() {
        String[] read = new String[COUNT];
        for (int i = 0; i < COUNT; i++) {
            read[i] = text.getString((long) i * (strings[i].length() + 1));
        }
        return read;
    }
}
