// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Query;
import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Values that are a few bytes on the wire are not hundreds in memory.
class EmptyValuesTest {

    private static final int COUNT = 100_000;

    @Test
    void emptyQueriesCostAFewTimesTheirBytes() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Query empty = new Query(List.of(), List.of());
        try (ArenaSource source = ArenaSource.create();
                BufferBuilder builder = BufferBuilder.create(source)) {
            Packer.into(builder, WireFormat.PMIX_4)
                    .pack(DataType.QUERY, Collections.nCopies(COUNT, empty).toArray());
            try (SealedBuffer item = builder.seal()) {
                long before = threads.getCurrentThreadAllocatedBytes();
                List<?> values = Unpacker.of(item, WireFormat.PMIX_4).unpack(DataType.QUERY);
                long taken = threads.getCurrentThreadAllocatedBytes() - before;
                assertEquals(COUNT, values.size());
                assertEquals(empty, values.getLast());
                assertTrue(taken < 32 * item.byteSize(), "allocated=" + taken + " bytes=" + item.byteSize());
            }
        }
    }
}
