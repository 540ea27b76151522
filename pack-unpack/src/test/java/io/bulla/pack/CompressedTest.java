// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.value.DataType;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Text and bytes as PMIx compresses them, and what only looks so.
class CompressedTest {

    private static final String LONG = "h\u00e9llo \ud83d\ude00 ".repeat(500);

    @ParameterizedTest
    @EnumSource(names = {"PMIX_3", "PMIX_4", "PMIX_4_NATIVE_DESCRIBED"})
    void stringTravelsCompressedAndComesBack(WireFormat format) {
        byte[] packed = Packed.bytes(format, packer -> packer.pack(DataType.COMPRESSED_STRING, Compressed.of(LONG)));
        assertTrue(packed.length < LONG.length() / 10);
        try (SealedBuffer buffer = Packed.sealed(packed)) {
            List<Object> values = Unpacker.of(buffer, format).unpack(DataType.COMPRESSED_STRING);
            assertEquals(LONG, Compressed.text((IoVec) values.getFirst(), Limits.DEFAULT));
        }
    }

    @Property(tries = 300)
    void bytesComeBack(@ForAll @Size(max = 5000) byte[] bytes) {
        assertArrayEquals(bytes, Compressed.bytes(Compressed.of(bytes), Limits.DEFAULT));
    }

    /// What zlib made of 5000 times `a`, as hard as it could: the C side of PMIx.
    @Test
    void bytesOfZlibAreInflated() {
        byte[] stream = Packed.ofHex("78daedc13101000000c2a0aceb5fc2147e4001000000006f034b6f66f2");
        byte[] expected = new byte[5000];
        Arrays.fill(expected, (byte) 'a');
        assertArrayEquals(expected, Compressed.bytes(object(5000, stream), Limits.DEFAULT));
    }

    @Test
    void whatOnlyLooksCompressedIsRefused() {
        byte[] whole = Packed.bytes(Compressed.of(LONG));
        byte[] stream = Arrays.copyOfRange(whole, Integer.BYTES, whole.length);
        int size = LONG.getBytes(java.nio.charset.StandardCharsets.UTF_8).length;
        refused("no size before compressed bytes: expected=4 found=3 offset=0", Packed.vector(new byte[3]));
        refused("compressed bytes end early: expected=" + (size + 1) + " found=" + size, object(size + 1, stream));
        refused("more bytes than announced: expected=" + (size - 1) + " found=more", object(size - 1, stream));
        refused("compressed bytes end early: ", object(size, Arrays.copyOf(stream, stream.length - 1)));
        refused(
                "bytes behind the compressed ones: expected=0 found=1",
                object(size, Arrays.copyOf(stream, stream.length + 1)));
        refused("not a zlib stream: ", object(size, new byte[stream.length]));
        refused("inflated size out of range: expected=0..16777216 found=4294967295", object(-1, stream));
        refused("no stream is that dense: ", object(1 << 24, stream));
        refused("string is not UTF-8: ", Compressed.of(new byte[] {(byte) 0xff}));
        refused("string holds a zero byte: ", Compressed.of(new byte[] {0, 'a'}));
        assertThrows(IllegalArgumentException.class, () -> Compressed.of("a\0b"));
    }

    /// More than any bytes within the limit become: a view costs nothing, and its copy would.
    @Test
    void streamLongerThanAnyThatCountsIsNotCopied() {
        MemorySegment[] parts = new MemorySegment[2049];
        Arrays.fill(parts, MemorySegment.ofArray(new byte[1 << 20]));
        UnpackException over =
                assertThrows(UnpackException.class, () -> Compressed.bytes(IoVec.of(parts), Limits.DEFAULT));
        assertEquals(UnpackException.Reason.LIMIT, over.reason());
        assertTrue(over.getMessage().startsWith("compressed bytes out of range: expected=0..16782"), over::getMessage);
    }

    private static IoVec object(int size, byte[] stream) {
        return Packed.vector(ByteBuffer.allocate(Integer.BYTES + stream.length)
                .order(ByteOrder.nativeOrder())
                .putInt(size)
                .put(stream)
                .array());
    }

    private static void refused(String message, IoVec compressed) {
        String found = assertThrows(UnpackException.class, () -> Compressed.text(compressed, Limits.DEFAULT))
                .getMessage();
        assertTrue(found.startsWith(message), found);
    }
}
