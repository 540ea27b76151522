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

/// Twin of `TaggedDoubleClose` that shows the handle without a fence behind its attachment: who finds the handle
/// may find nothing beside it, and exchange in another place than the one that opened it.
@JCStressTest
@Outcome(id = "-1", expect = ACCEPTABLE, desc = "not shown yet")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "shown with its record: both exchange in the same place")
@Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "x86 hides it: shown without its record, closed twice")
@Outcome(expect = FORBIDDEN)
@State
public class TaggedDoubleCloseWithoutFence {

    private static final class Handle {

        // "nothing was asked" is what a constructor leaves
        int record;
    }

    private Handle shown;

    @Actor
    public void opener() {
        Handle tagged = new Handle();
        tagged.record = 1;
        shown = tagged;
    }

    @Actor
    public void finder(I_Result result) {
        Handle found = shown;
        result.r1 = found == null ? -1 : found.record;
    }
}
