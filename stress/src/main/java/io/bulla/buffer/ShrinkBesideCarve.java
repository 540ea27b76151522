// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.bulla.buffer.MemorySource.Region;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/// Block: a seal gives back what it did not use only if no other carved behind it; no byte has two owners.
@JCStressTest
@Outcome(id = "1, 2, 3", expect = ACCEPTABLE, desc = "each finds what it wrote")
@Outcome(expect = FORBIDDEN)
@State
public class ShrinkBesideCarve {

    private final Chunk chunk = new Chunk(new ArenaCloser(bytes -> {}, 0));
    private final Block block = new Block(chunk);

    {
        block.on(MemorySegment.ofArray(new long[16]));
    }

    private final Block.Carved shrunk = (Block.Carved) block.carve(32);
    private Region besides;

    @Actor
    public void sealer() {
        shrunk.resize(8);
        shrunk.segment().fill((byte) 1);
    }

    @Actor
    public void carver() {
        besides = block.carve(16);
        besides.segment().fill((byte) 2);
    }

    @Arbiter
    public void judge(III_Result result) {
        Region after = block.carve(64);
        after.segment().fill((byte) 3);
        result.r1 = filledWith(shrunk.segment());
        result.r2 = filledWith(besides.segment());
        result.r3 = filledWith(after.segment());
    }

    private static int filledWith(MemorySegment memory) {
        int value = memory.get(ValueLayout.JAVA_BYTE, 0);
        for (long at = 1; at < memory.byteSize(); at++) {
            if (memory.get(ValueLayout.JAVA_BYTE, at) != value) {
                return -1;
            }
        }
        return value;
    }
}
