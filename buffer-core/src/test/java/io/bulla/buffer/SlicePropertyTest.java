// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.iovec.IoVec;
import java.lang.foreign.ValueLayout;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class SlicePropertyTest {

    /// Whatever handles are cut from handles, and in whatever order they are closed, each reads its own bytes
    /// until it is closed.
    @Property(tries = 200)
    void slicesOfSlicesOutliveTheirParents(
            @ForAll @Size(min = 1, max = 12) List<@IntRange(min = 0, max = 999) Integer> cuts) {
        SealedBuffer[] held = new SealedBuffer[cuts.size() + 1];
        int[] starts = new int[held.length];
        MemoryBudget budget = new MemoryBudget(1 << 20);
        ArenaSource source = ArenaSource.create(budget, null);
        held[0] = Bytes.sealed(source, 1000);
        for (int i = 1; i < held.length; i++) {
            int parent = cuts.get(i - 1) % i;
            long size = held[parent].byteSize();
            int from = (int) (cuts.get(i - 1) % (size + 1));
            held[i] = held[parent].slice(from, (size - from) / 2);
            starts[i] = starts[parent] + from;
        }
        for (int i = 0; i < held.length; i++) {
            held[i].close();
            for (int j = i + 1; j < held.length; j++) {
                IoVec bytes = held[j].iovec();
                if (bytes.byteSize() > 0) {
                    assertEquals((byte) starts[j], bytes.get(ValueLayout.JAVA_BYTE, 0));
                }
            }
        }
        source.close();
        Await.until(() -> budget.used() == 0);
    }
}
