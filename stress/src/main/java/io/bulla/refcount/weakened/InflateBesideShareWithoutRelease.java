// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Twin of `InflateBesideShare` whose show does not release: who meets the cell may meet it empty.
@JCStressTest
@Outcome(id = "-1", expect = ACCEPTABLE, desc = "not shown yet")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "shown: the holder in the cell is there")
@Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "x86 hides it: shown empty")
@Outcome(expect = FORBIDDEN)
@State
public class InflateBesideShareWithoutRelease {

    private long[] cells;

    @Actor
    public void striper() {
        long[] fresh = new long[1];
        fresh[0] = 1;
        cells = fresh;
    }

    @Actor
    public void sharer(I_Result result) {
        long[] seen = cells;
        result.r1 = seen == null ? -1 : (int) seen[0];
    }
}
