// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.function.Consumer;

/// Bytes made and taken apart, for tests.
final class Packed {

    static final ArenaSource SOURCE = ArenaSource.create();

    private Packed() {}

    static byte[] bytes(WireFormat format, Consumer<Packer> items) {
        return bytes(format, FloatText.STRICT, items);
    }

    static byte[] bytes(WireFormat format, FloatText floats, Consumer<Packer> items) {
        try (BufferBuilder builder = BufferBuilder.create(SOURCE)) {
            items.accept(Packer.into(builder, format, floats));
            try (SealedBuffer packed = builder.seal()) {
                return bytes(packed.iovec());
            }
        }
    }

    static byte[] bytes(IoVec vector) {
        byte[] bytes = new byte[(int) vector.byteSize()];
        vector.copyTo(0, MemorySegment.ofArray(bytes), bytes.length);
        return bytes;
    }

    static String hex(WireFormat format, Consumer<Packer> items) {
        return HexFormat.of().formatHex(bytes(format, items));
    }

    static byte[] ofHex(String hex) {
        return HexFormat.of().parseHex(hex.replaceAll("[ |]", ""));
    }

    static IoVec vector(byte... bytes) {
        return IoVec.of(MemorySegment.ofArray(bytes));
    }

    static SealedBuffer sealed(byte... bytes) {
        return BufferBuilder.create(SOURCE).put(bytes).seal();
    }

    /// The same bytes in regions that end at the given places.
    static SealedBuffer cut(byte[] bytes, int... ends) {
        SealedBuffer[] parts = new SealedBuffer[ends.length + 1];
        for (int i = 0; i <= ends.length; i++) {
            int from = i == 0 ? 0 : ends[i - 1];
            parts[i] = sealed(Arrays.copyOfRange(bytes, from, i == ends.length ? bytes.length : ends[i]));
        }
        try {
            return SealedBuffer.concat(parts);
        } finally {
            for (SealedBuffer part : parts) {
                part.close();
            }
        }
    }
}
