// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// LeaseTally: its snapshot reads what was closed first, so it never tells of fewer leases than none.
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "as many leases are open as none, or more")
@Outcome(expect = FORBIDDEN)
@State
public class TallyBesideLease {

    private final LeaseTally tally = new LeaseTally();

    @Actor
    public void holder() {
        for (int i = 0; i < 64; i++) {
            tally.opened(null, null, null);
            tally.closed(null, tally);
        }
    }

    @Actor
    public void reporter(I_Result result) {
        for (int i = 0; i < 64; i++) {
            if (tally.open() < 0) {
                result.r1 = -1;
            }
        }
    }
}
