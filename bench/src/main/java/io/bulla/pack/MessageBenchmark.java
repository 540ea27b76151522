// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import com.google.protobuf.CodedOutputStream;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import net.openhft.chronicle.bytes.Bytes;
import org.agrona.ExpandableDirectByteBuffer;
import org.agrona.MutableDirectBuffer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// Messages of many fields, one call each. All sides write the same bytes, big-endian.
///
/// *Scalars* are 200 records of an `int`, a `long`, a `long`, an `int` and a `long`. *Items* are the same as
/// OPAL DSS has them, each behind its count. *Mixed* are 250 records of an item of one `int32`, one `int64`,
/// one string of 8 to 16 characters and one byte object of 32 bytes. *Textless* are the same without the
/// string, which tells what of *mixed* is text.
///
/// One should see: the builder no slower than a direct `ByteBuffer`, and near Agrona's expandable buffer (which
/// has no position to keep), protobuf's stream and Chronicle's bytes (which do not turn bytes round); all of
/// them behind `Unsafe`, the baseline, which checks nothing: a byte too many and the process is gone. The naive
/// `scalarsDataOutput` writes byte by byte into a stream that grows.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 2, jvmArgsAppend = "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED")
@Warmup(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@SuppressWarnings("removal")
public class MessageBenchmark {

    private static final int RECORDS = 200;
    private static final int MIXED = 250;
    private static final int ROOM = 1 << 16;
    private static final int BLOB = 32;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final String[] texts = new String[MIXED];
    private final byte[] blob = new byte[BLOB];
    private ArenaSource source;
    private BufferBuilder builder;
    private Packer packer;
    private ByteBuffer direct;
    private MemorySegment segment;
    private ExpandableDirectByteBuffer agrona;
    private int agronaAt;
    private RawCursor raw;
    private final ByteArrayOutputStream stream = new ByteArrayOutputStream(ROOM);
    private int seed;

    /// `Unsafe` with a position in a field.
    private static final class RawCursor {

        private static final sun.misc.Unsafe UNSAFE = unsafe();

        private final long base = UNSAFE.allocateMemory(ROOM);
        private long at;

        private static sun.misc.Unsafe unsafe() {
            try {
                Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
                field.setAccessible(true);
                return (sun.misc.Unsafe) field.get(null);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        RawCursor restart() {
            at = base;
            return this;
        }

        void put(int value) {
            UNSAFE.putInt(at, Integer.reverseBytes(value));
            at += Integer.BYTES;
        }

        void put(long value) {
            UNSAFE.putLong(at, Long.reverseBytes(value));
            at += Long.BYTES;
        }

        void put(byte value) {
            UNSAFE.putByte(at++, value);
        }

        void put(byte[] bytes) {
            UNSAFE.copyMemory(bytes, sun.misc.Unsafe.ARRAY_BYTE_BASE_OFFSET, null, at, bytes.length);
            at += bytes.length;
        }

        void free() {
            UNSAFE.freeMemory(base);
        }
    }

    /// Apart, for it loads much.
    @State(Scope.Thread)
    public static class Chronicle {

        private final Bytes<?> bytes = Bytes.allocateDirect(ROOM);

        @TearDown
        public void free() {
            bytes.releaseLast();
        }
    }

    @Setup
    public void open() {
        source = ArenaSource.create();
        builder = BufferBuilder.ofCapacity(source, ROOM);
        packer = Packer.into(builder, WireFormat.OPAL_DSS);
        direct = ByteBuffer.allocateDirect(ROOM);
        segment = MemorySegment.ofBuffer(direct);
        agrona = new ExpandableDirectByteBuffer(ROOM);
        raw = new RawCursor();
        for (int i = 0; i < MIXED; i++) {
            texts[i] = "abcdefghijklmnop".substring(0, 8 + i % 9);
        }
    }

    @TearDown
    public void close() {
        raw.free();
        builder.close();
        source.close();
    }

    @Benchmark
    public BufferBuilder scalars() {
        BufferBuilder to = builder;
        to.truncate(0);
        int v = seed++;
        for (int i = 0; i < RECORDS; i++) {
            to.putInt(v + i);
            to.putLong(v ^ i);
            to.putLong(v - i);
            to.putInt(i);
            to.putLong(v);
        }
        return to;
    }

    /// A record for each five fields: room is asked for once.
    @Benchmark
    public BufferBuilder scalarsRecord() {
        BufferBuilder to = builder;
        to.truncate(0);
        int v = seed++;
        for (int i = 0; i < RECORDS; i++) {
            to.record(32)
                    .putInt(v + i)
                    .putLong(v ^ i)
                    .putLong(v - i)
                    .putInt(i)
                    .putLong(v)
                    .end();
        }
        return to;
    }

    /// The floor of a record: a slice of the JDK's segment, whose bounds are looked at once, and puts at places that
    /// the compiler knows. Nothing is open or closed, and no position is kept.
    @Benchmark
    public MemorySegment scalarsSlices() {
        MemorySegment to = segment;
        int v = seed++;
        for (int i = 0; i < RECORDS; i++) {
            MemorySegment record = to.asSlice(i * 32L, 32);
            record.set(INT, 0, v + i);
            record.set(LONG, 4, v ^ i);
            record.set(LONG, 12, v - i);
            record.set(INT, 20, i);
            record.set(LONG, 24, v);
        }
        return to;
    }

    @Benchmark
    public ByteBuffer scalarsByteBuffer() {
        ByteBuffer to = direct.clear();
        int v = seed++;
        for (int i = 0; i < RECORDS; i++) {
            to.putInt(v + i);
            to.putLong(v ^ i);
            to.putLong(v - i);
            to.putInt(i);
            to.putLong(v);
        }
        return to;
    }

    @Benchmark
    public MutableDirectBuffer scalarsAgrona() {
        MutableDirectBuffer to = agrona;
        int v = seed++;
        int at = 0;
        for (int i = 0; i < RECORDS; i++) {
            to.putInt(at, v + i, ByteOrder.BIG_ENDIAN);
            to.putLong(at + 4, v ^ i, ByteOrder.BIG_ENDIAN);
            to.putLong(at + 12, v - i, ByteOrder.BIG_ENDIAN);
            to.putInt(at + 20, i, ByteOrder.BIG_ENDIAN);
            to.putLong(at + 24, v, ByteOrder.BIG_ENDIAN);
            at += 32;
        }
        return to;
    }

    /// Agrona's with a position that is kept in a field, as every other writer here has one.
    @Benchmark
    public MutableDirectBuffer scalarsAgronaPosition() {
        MutableDirectBuffer to = agrona;
        int v = seed++;
        agronaAt = 0;
        for (int i = 0; i < RECORDS; i++) {
            to.putInt(agronaAt, v + i, ByteOrder.BIG_ENDIAN);
            agronaAt += 4;
            to.putLong(agronaAt, v ^ i, ByteOrder.BIG_ENDIAN);
            agronaAt += 8;
            to.putLong(agronaAt, v - i, ByteOrder.BIG_ENDIAN);
            agronaAt += 8;
            to.putInt(agronaAt, i, ByteOrder.BIG_ENDIAN);
            agronaAt += 4;
            to.putLong(agronaAt, v, ByteOrder.BIG_ENDIAN);
            agronaAt += 8;
        }
        return to;
    }

    /// Fixed-width fields without tags, so little-endian.
    @Benchmark
    public CodedOutputStream scalarsProtobuf() throws IOException {
        CodedOutputStream to = CodedOutputStream.newInstance(direct.clear());
        int v = seed++;
        for (int i = 0; i < RECORDS; i++) {
            to.writeFixed32NoTag(v + i);
            to.writeFixed64NoTag(v ^ i);
            to.writeFixed64NoTag(v - i);
            to.writeFixed32NoTag(i);
            to.writeFixed64NoTag(v);
        }
        to.flush();
        return to;
    }

    @Benchmark
    public ByteArrayOutputStream scalarsDataOutput() throws IOException {
        stream.reset();
        DataOutputStream to = new DataOutputStream(stream);
        int v = seed++;
        for (int i = 0; i < RECORDS; i++) {
            to.writeInt(v + i);
            to.writeLong(v ^ i);
            to.writeLong(v - i);
            to.writeInt(i);
            to.writeLong(v);
        }
        return stream;
    }

    /// Chronicle writes in the machine's order.
    @Benchmark
    public Object scalarsChronicle(Chronicle chronicle) {
        Bytes<?> to = chronicle.bytes.clear();
        int v = seed++;
        for (int i = 0; i < RECORDS; i++) {
            to.writeInt(v + i);
            to.writeLong(v ^ i);
            to.writeLong(v - i);
            to.writeInt(i);
            to.writeLong(v);
        }
        return to;
    }

    @Benchmark
    public Object scalarsUnsafe() {
        RawCursor to = raw.restart();
        int v = seed++;
        for (int i = 0; i < RECORDS; i++) {
            to.put(v + i);
            to.put((long) (v ^ i));
            to.put((long) (v - i));
            to.put(i);
            to.put((long) v);
        }
        return to;
    }

    @Benchmark
    public Packer items() {
        builder.truncate(0);
        Packer to = packer;
        int v = seed++;
        for (int i = 0; i < RECORDS; i++) {
            to.packInt32(v + i);
            to.packInt64(v ^ i);
            to.packInt64(v - i);
            to.packInt32(i);
            to.packInt64(v);
        }
        return to;
    }

    @Benchmark
    public ByteBuffer itemsByteBuffer() {
        ByteBuffer to = direct.clear();
        int v = seed++;
        for (int i = 0; i < RECORDS; i++) {
            to.putInt(1).putInt(v + i);
            to.putInt(1).putLong(v ^ i);
            to.putInt(1).putLong(v - i);
            to.putInt(1).putInt(i);
            to.putInt(1).putLong(v);
        }
        return to;
    }

    @Benchmark
    public Packer mixed() {
        builder.truncate(0);
        Packer to = packer;
        int v = seed++;
        for (int i = 0; i < MIXED; i++) {
            to.packInt32(v + i);
            to.packInt64(v ^ i);
            to.packString(texts[i]);
            to.packByteObject(blob);
        }
        return to;
    }

    @Benchmark
    public Object mixedUnsafe() {
        RawCursor to = raw.restart();
        int v = seed++;
        for (int i = 0; i < MIXED; i++) {
            to.put(1);
            to.put(v + i);
            to.put(1);
            to.put((long) (v ^ i));
            byte[] text = texts[i].getBytes(StandardCharsets.UTF_8);
            to.put(1);
            to.put(text.length + 1);
            to.put(text);
            to.put((byte) 0);
            to.put(1);
            to.put(BLOB);
            to.put(blob);
        }
        return to;
    }

    @Benchmark
    public Packer textless() {
        builder.truncate(0);
        Packer to = packer;
        int v = seed++;
        for (int i = 0; i < MIXED; i++) {
            to.packInt32(v + i);
            to.packInt64(v ^ i);
            to.packByteObject(blob);
        }
        return to;
    }

    @Benchmark
    public Object textlessUnsafe() {
        RawCursor to = raw.restart();
        int v = seed++;
        for (int i = 0; i < MIXED; i++) {
            to.put(1);
            to.put(v + i);
            to.put(1);
            to.put((long) (v ^ i));
            to.put(1);
            to.put(BLOB);
            to.put(blob);
        }
        return to;
    }

    @Benchmark
    public ByteBuffer mixedByteBuffer() {
        ByteBuffer to = direct.clear();
        int v = seed++;
        for (int i = 0; i < MIXED; i++) {
            to.putInt(1).putInt(v + i);
            to.putInt(1).putLong(v ^ i);
            byte[] text = texts[i].getBytes(StandardCharsets.UTF_8);
            to.putInt(1).putInt(text.length + 1).put(text).put((byte) 0);
            to.putInt(1).putInt(BLOB).put(blob);
        }
        return to;
    }
}
