// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.internal.BuilderAccess;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/// What Bulla's other modules see of a builder's regions.
class RegionAccessTest {

    private static final BuilderAccess<BufferBuilder> ACCESS = BuilderAccess.of(BufferBuilder.class);

    @Test
    void bytesArePutWhereTheNextOneGoes() {
        try (ArenaSource source = ArenaSource.create();
                BufferBuilder builder = BufferBuilder.ofCapacity(source, 256)) {
            builder.putInt(0x01020304);
            assertEquals(256, ACCESS.memory(builder).byteSize());
            assertEquals(4, ACCESS.used(builder));
            assertEquals(252, ACCESS.room(builder));
            ACCESS.memory(builder).set(ValueLayout.JAVA_BYTE, 4, (byte) 5);
            ACCESS.advance(builder, 1);
            assertEquals(5, ACCESS.checkedSize(builder));
            assertEquals(3, ACCESS.writtenFrom(builder, 2).byteSize());
            assertEquals(3, ACCESS.writtenFrom(builder, 2).get(ValueLayout.JAVA_BYTE, 0));
            try (SealedBuffer all = builder.seal()) {
                assertArrayEquals(new byte[] {1, 2, 3, 4, 5}, all.toByteArray());
            }
            assertThrows(IllegalStateException.class, () -> ACCESS.checkedSize(builder));
        }
    }

    @Test
    void accessIsOfferedOnceAndToItsTypeAlone() {
        assertEquals(
                "access offered twice: type=io.bulla.buffer.BufferBuilder",
                assertThrows(IllegalStateException.class, () -> BuilderAccess.offer(ACCESS))
                        .getMessage());
        assertEquals(
                "no access to this type: type=java.lang.String",
                assertThrows(IllegalArgumentException.class, () -> BuilderAccess.of(String.class))
                        .getMessage());
    }

    /// A source of regions of 64 bytes, none of which grows.
    private record Small(MemorySource of) implements MemorySource {
        @Override
        public Region allocate(long byteSize) {
            return of.allocate(64);
        }
    }

    @Test
    void whatWasWrittenIsShownUpToTheEndOfItsRegion() {
        try (ArenaSource source = ArenaSource.create();
                BufferBuilder builder = BufferBuilder.create(new Small(source)).put(Bytes.numbered(200))) {
            for (int offset = 0; offset < 200; offset++) {
                MemorySegment shown = ACCESS.writtenFrom(builder, offset);
                assertEquals(Math.min(200, (offset / 64 + 1) * 64) - offset, shown.byteSize());
                assertEquals((byte) offset, shown.get(ValueLayout.JAVA_BYTE, 0));
            }
            for (long wrong : new long[] {-1, 200}) {
                assertEquals(
                        "written past the end: offset=" + wrong + " length=1 byteSize=200",
                        assertThrows(IndexOutOfBoundsException.class, () -> ACCESS.writtenFrom(builder, wrong))
                                .getMessage());
            }
        }
    }
}
