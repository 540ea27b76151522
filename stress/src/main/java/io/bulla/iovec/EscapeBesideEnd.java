// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.bulla.iovec.Generation.End;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Generation 2: a view that is given out is seen by the end, or not given out.
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "free, and no view")
@Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "a view, and the end knows")
@Outcome(expect = FORBIDDEN, desc = "a view of memory that is used again")
@State
public class EscapeBesideEnd {

    private final Generation stamp = new Generation();
    private final IoVec vec = IoVec.of(MemorySegment.ofArray(new byte[8])).stamped(stamp);

    @Actor
    public void owner(II_Result result) {
        result.r1 = stamp.end() == End.FREE ? 1 : 2;
    }

    @Actor
    public void taker(II_Result result) {
        try {
            vec.region(0);
            result.r2 = 1;
        } catch (IllegalStateException late) {
            result.r2 = 2;
        }
    }
}
