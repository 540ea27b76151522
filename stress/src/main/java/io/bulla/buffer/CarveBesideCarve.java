// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.bulla.buffer.MemorySource.Region;
import java.lang.foreign.ValueLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Block: two threads that carve at the same time get bytes of their own.
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "each finds what it wrote")
@Outcome(expect = FORBIDDEN)
@State
public class CarveBesideCarve {

    private static final ArenaSource SOURCE = ArenaSource.create();

    private Region first;
    private Region second;

    private static Region carveAndWrite(byte value) {
        Region region = SOURCE.allocate(16);
        region.segment().fill(value);
        return region;
    }

    private static int readAndRelease(Region region) {
        int first = region.segment().get(ValueLayout.JAVA_BYTE, 0);
        int last = region.segment().get(ValueLayout.JAVA_BYTE, 15);
        region.release();
        return first == last ? first : -1;
    }

    @Actor
    public void one() {
        first = carveAndWrite((byte) 1);
    }

    @Actor
    public void two() {
        second = carveAndWrite((byte) 2);
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = readAndRelease(first);
        result.r2 = readAndRelease(second);
    }
}
