package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/// What was packed is what is unpacked, whatever the values and however the bytes are cut into regions.
class PackUnpackPropertyTest {

    private static final ArenaSource SOURCE = ArenaSource.create();

    @Provide
    Arbitrary<String[]> strings() {
        return Arbitraries.strings()
                .all()
                .filter(s -> s.indexOf(0) < 0
                        && s.equals(new String(s.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8)))
                .injectNull(0.1)
                .array(String[].class)
                .ofMaxSize(5);
    }

    @Property(tries = 300)
    void unpackIsTheInverseOfPack(
            @ForAll WireFormat format,
            @ForAll int[] ints,
            @ForAll long[] longs,
            @ForAll boolean[] bools,
            @ForAll("strings") String[] strings,
            @ForAll byte[] bytes,
            @ForAll @IntRange(min = 1, max = 17) int step) {
        BufferBuilder builder = BufferBuilder.create(SOURCE);
        Packer.into(builder, format)
                .packInt32(ints)
                .packString(strings)
                .packInt64(longs)
                .packByteObject(bytes)
                .packBool(bools);
        try (SealedBuffer packed = builder.seal();
                SealedBuffer cut = cut(packed, step)) {
            Unpacker unpacker = Unpacker.of(cut, format);
            assertArrayEquals(ints, unpacker.unpackInt32s());
            assertArrayEquals(strings, unpacker.unpackStrings());
            assertArrayEquals(longs, unpacker.unpackInt64s());
            assertEquals(-1, unpacker.unpackByteObject().mismatch(IoVec.of(MemorySegment.ofArray(bytes))));
            assertArrayEquals(bools, unpacker.unpackBools());
            assertEquals(0, unpacker.remaining());
        }
    }

    private static SealedBuffer cut(SealedBuffer whole, int step) {
        List<SealedBuffer> parts = new ArrayList<>();
        for (long at = 0; at < whole.byteSize(); at += step) {
            parts.add(whole.slice(at, Math.min(step, whole.byteSize() - at)));
        }
        SealedBuffer cut = SealedBuffer.concat(parts.toArray(SealedBuffer[]::new));
        parts.forEach(SealedBuffer::close);
        return cut;
    }
}
