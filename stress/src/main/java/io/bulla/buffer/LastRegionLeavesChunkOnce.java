// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.bulla.buffer.MemorySource.Region;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Block: of the last regions of a retired block, given back at the same time, one leaves the chunk.
@JCStressTest
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "the chunk is left, once")
@Outcome(expect = FORBIDDEN)
@State
public class LastRegionLeavesChunkOnce {

    private final Chunk chunk = new Chunk(new ArenaCloser(bytes -> {}, 0));
    private final Block block = new Block(chunk);

    {
        block.on(MemorySegment.ofArray(new long[2]));
    }

    private final Region first = block.carve(8);
    private final Region second = block.carve(8);
    private final AtomicInteger leftTwice = new AtomicInteger();

    {
        block.retire();
    }

    private void release(Region region) {
        try {
            region.release();
        } catch (IllegalStateException surplus) {
            leftTwice.incrementAndGet();
        }
    }

    @Actor
    public void one() {
        release(first);
    }

    @Actor
    public void two() {
        release(second);
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = (int) chunk.holders();
        result.r2 = leftTwice.get();
    }
}
