// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.refcount.LeaseTally;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoOpenHandles.class)
class HostileSourcesTest {

    @Test
    void bytesStayUntilTheLastCloseAndNoLonger(MemorySource source) {
        SealedBuffer first = BufferBuilder.create(source).putByte((byte) 7).seal();
        IoVec escaped = first.iovec();
        SealedBuffer second = first.slice(0, 1);
        first.close();
        assertEquals(7, escaped.get(ValueLayout.JAVA_BYTE, 0));
        second.close();
        assertEquals(PoisoningSource.POISON, escaped.get(ValueLayout.JAVA_BYTE, 0));
    }

    @Test
    void packThatRunsOutOfMemoryLeavesTheItemsBefore(MemorySource source) {
        try (BufferBuilder builder = BufferBuilder.create(new StingySource(source, 2))) {
            Packer packer = Packer.into(builder, WireFormat.OPAL_DSS).packString("before");
            long size = builder.byteSize();
            assertEquals(
                    "stingy source refuses: requested=1048576",
                    assertThrows(IllegalStateException.class, () -> packer.packInt64(new long[300_000]))
                            .getMessage());
            assertEquals(size, builder.byteSize());
            try (SealedBuffer buffer = builder.seal()) {
                assertEquals("before", Unpacker.of(buffer, WireFormat.OPAL_DSS).unpackString());
            }
        }
    }

    @Test
    void handleLeftOpenIsReported() {
        LeaseTally tally = new LeaseTally();
        SealedBuffer forgotten =
                BufferBuilder.create(new PoisoningSource(tally)).putInt(1).seal();
        assertEquals(
                "handles left open: open=1 opened=1",
                assertThrows(AssertionError.class, () -> NoOpenHandles.check(tally))
                        .getMessage());
        forgotten.close();
        NoOpenHandles.check(tally);
    }
}
