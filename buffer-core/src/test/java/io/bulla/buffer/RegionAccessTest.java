// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.internal.BuilderAccess;
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
}
