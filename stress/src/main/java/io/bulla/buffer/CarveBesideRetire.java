// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.bulla.buffer.MemorySource.Region;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Block: a carve beside the end of its block gets a region that holds the chunk, or nothing; the chunk is left
/// once, by the last.
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "carved first: the region held the chunk until it was given back")
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "retired first: no region, and the chunk is left")
@Outcome(expect = FORBIDDEN)
@State
public class CarveBesideRetire {

    private final Chunk chunk = new Chunk(new ArenaCloser(bytes -> {}, 0));
    private final Block block = new Block(chunk);

    {
        block.on(MemorySegment.ofArray(new long[2]));
    }

    @Actor
    public void carver(II_Result result) {
        Region region = block.carve(8);
        if (region != null) {
            result.r1 = chunk.holders() == 1 ? 1 : -1;
            region.release();
        }
    }

    @Actor
    public void retirer() {
        block.retire();
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r2 = (int) chunk.holders();
    }
}
