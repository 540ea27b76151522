// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.util.HexFormat;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnpackerTest {

    private static final ArenaSource SOURCE = ArenaSource.create();

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "int    | 09 00000001 0a 0000000000000001 | wrong type: expected=INT32 found=INT64 offset=5",
                "int    | 0a 00000001 09 00000001         | wrong type: expected=INT32 found=INT64 offset=0",
                "int    | 09 00000001 c8 00000001         | wrong type: expected=INT32 found=200 offset=5",
                "int    | 09 00000001 09 0000             | truncated: expected=4 found=2 offset=6",
                "int    | 09 0000                         | truncated: expected=4 found=2 offset=1",
                "int    | 09 00000002 09 00000001 00000002 | one value expected: expected=1 found=2 offset=0",
                "ints   | 09 ffffffff 09                  | count out of range: expected=0..1000 found=-1 offset=1",
                "ints   | 09 000003e9 09                  | count out of range: expected=0..1000 found=1001 offset=1",
                "ints   | 09 00000003 09 00000001         | truncated: expected=12 found=4 offset=6",
                "string | 09 00000001 03 fffffffe         | string length out of range: expected=0..100 found=-2 offset=6",
                "string | 09 00000001 03 7fffffff  | string length out of range: expected=0..100 found=2147483647 offset=6",
                "string | 09 00000001 03 00000002 6161    | string without its terminating zero: expected=0 found=97 offset=6",
                "string | 09 00000001 03 00000002 ff00    | string is not UTF-8: expected=UTF-8 found=2 bytes offset=6",
                "string | 09 00000001 03 00000004 61006200 | string holds a zero byte: expected=3 found=1 offset=6",
                "bytes  | 09 00000001 14 fffffffe  | byte object size out of range: expected=0..50 found=-2 offset=10",
                "bytes  | 09 00000001 14 00000033  | byte object size out of range: expected=0..50 found=51 offset=10",
                "bytes  | 09 00000001 14 00000003 aabb    | truncated: expected=3 found=2 offset=10",
                "bool   | 09 00000001 02 03 01            | wrong type: expected=UINT8 found=STRING offset=6",
                "bool   | 09 00000001 02 09 01            | truncated: expected=4 found=1 offset=7",
            })
    void failureNamesTheTroubleAndLeavesThePosition(String read, String hex, String message) {
        byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
        try (SealedBuffer buffer = BufferBuilder.create(SOURCE).put(bytes).seal()) {
            Unpacker unpacker = Unpacker.of(buffer, WireFormat.OPAL_DSS_DESCRIBED, new Limits(1000, 100, 50, 3, 1000));
            Function<Unpacker, Object> call = switch (read) {
                case "int" -> Unpacker::unpackInt32;
                case "ints" -> Unpacker::unpackInt32s;
                case "string" -> Unpacker::unpackString;
                case "bytes" -> Unpacker::unpackByteObject;
                default -> Unpacker::unpackBool;
            };
            assertEquals(
                    message,
                    assertThrows(UnpackException.class, () -> call.apply(unpacker))
                            .getMessage());
            assertEquals(bytes.length, unpacker.remaining());
        }
    }

    @Test
    void forkReadsByItself() {
        BufferBuilder builder = BufferBuilder.create(SOURCE);
        Packer.into(builder, WireFormat.OPAL_DSS).packInt32(1).packInt64(2).packBool(true);
        try (SealedBuffer buffer = builder.seal()) {
            Unpacker first = Unpacker.of(buffer, WireFormat.OPAL_DSS);
            assertEquals(1, first.unpackInt32());
            Unpacker second = first.fork();
            assertEquals(2, first.unpackInt64());
            assertEquals(2, second.unpackInt64());
            assertEquals(true, second.unpackBool());
        }
    }

    @Test
    void readAfterTheHandleIsClosedThrows() {
        BufferBuilder builder = BufferBuilder.create(SOURCE);
        Packer.into(builder, WireFormat.OPAL_DSS).packInt32(1);
        SealedBuffer buffer = builder.seal();
        Unpacker unpacker = Unpacker.of(buffer, WireFormat.OPAL_DSS);
        buffer.close();
        assertThrows(ReleasedBufferException.class, unpacker::unpackInt32);
    }

    @Test
    void packThatFailsLeavesTheBuilderAsItWas() {
        try (BufferBuilder builder = BufferBuilder.create(SOURCE)) {
            Packer packer = Packer.into(builder, WireFormat.OPAL_DSS_DESCRIBED).packInt32(1);
            long before = builder.byteSize();
            assertEquals(
                    "string holds U+0000: index=1 length=3",
                    assertThrows(IllegalArgumentException.class, () -> packer.packStrings("fine", "a\0b"))
                            .getMessage());
            assertEquals(before, builder.byteSize());
            assertThrows(
                    IOException.class,
                    () -> packer.packByteObject(Channels.newChannel(new ByteArrayInputStream(new byte[5])), 6));
            assertEquals(before, builder.byteSize());
            assertEquals(
                    "a DSS byte object has a 32-bit size: byteSize=2147483648 max=2147483647",
                    assertThrows(IllegalArgumentException.class, () -> packer.packByteObject(null, 1L << 31))
                            .getMessage());
            assertEquals(before, builder.byteSize());
        }
    }
}
