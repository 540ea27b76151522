// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Twin of `ShareBesideClose` that lacks the atomic step: share and close read the count, then write it.
@JCStressTest
@Outcome(id = "2", expect = ACCEPTABLE, desc = "two holders, one more and one less")
@Outcome(id = "1", expect = ACCEPTABLE_INTERESTING, desc = "the share was lost: freed beneath it later")
@Outcome(id = "3", expect = ACCEPTABLE_INTERESTING, desc = "the close was lost: never freed")
@Outcome(expect = FORBIDDEN)
@State
public class ShareBesideCloseWithoutAtomicAdd {

    private volatile int count = 2;

    @Actor
    public void sharer() {
        int before = count;
        count = before + 1;
    }

    @Actor
    public void closer() {
        int before = count;
        count = before - 1;
    }

    @Arbiter
    public void judge(I_Result result) {
        result.r1 = count;
    }
}
