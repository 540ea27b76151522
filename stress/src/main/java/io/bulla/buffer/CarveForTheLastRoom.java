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
import org.openjdk.jcstress.infra.results.III_Result;

/// Block: of two carves for the last room one gets it; the other gets nothing, and gives back the credit that it
/// took, so that the chunk is left.
@JCStressTest
@Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "the first got it")
@Outcome(id = "0, 1, 0", expect = ACCEPTABLE, desc = "the second got it")
@Outcome(expect = FORBIDDEN, desc = "both, none, or a chunk that is never left")
@State
public class CarveForTheLastRoom {

    private final Chunk chunk = new Chunk(new ArenaCloser(bytes -> {}, 0));
    private final Block block = new Block(chunk);

    {
        block.on(MemorySegment.ofArray(new long[1]));
    }

    private Region first;
    private Region second;

    @Actor
    public void first() {
        first = block.carve(8);
    }

    @Actor
    public void second() {
        second = block.carve(8);
    }

    @Arbiter
    public void judge(III_Result result) {
        result.r1 = endOf(first);
        result.r2 = endOf(second);
        block.retire();
        result.r3 = (int) chunk.holders();
    }

    private static int endOf(Region region) {
        if (region == null) {
            return 0;
        }
        region.release();
        return 1;
    }
}
