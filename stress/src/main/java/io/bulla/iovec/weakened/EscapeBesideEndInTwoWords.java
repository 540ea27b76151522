// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Twin of `EscapeBesideEnd` whose end and view are in two words: neither sees the other.
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "free, and no view")
@Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "a view, and the end knows")
@Outcome(id = "2, 2", expect = ACCEPTABLE, desc = "both saw the other")
@Outcome(id = "1, 1", expect = ACCEPTABLE_INTERESTING, desc = "a view of memory that is used again")
@Outcome(expect = FORBIDDEN)
@State
public class EscapeBesideEndInTwoWords {

    private boolean ended;
    private boolean escaped;

    @Actor
    public void owner(II_Result result) {
        ended = true;
        result.r1 = escaped ? 2 : 1;
    }

    @Actor
    public void taker(II_Result result) {
        escaped = true;
        result.r2 = ended ? 2 : 1;
    }
}
