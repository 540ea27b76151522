// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// RefCount 2: a share of one handle beside the close of another never meets a freed resource.
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the share was counted; freed once, after all closes")
@Outcome(expect = FORBIDDEN)
@State
public class ShareBesideClose {

    private final Thing thing = new Thing();
    private final Claim first = new Claim(thing);
    private final Claim second = first.share();
    private Claim third;
    private int freedBeside;

    @Actor
    public void sharer() {
        third = first.shareOrNull();
        freedBeside = thing.frees.get();
    }

    @Actor
    public void closer() {
        second.close();
    }

    @Arbiter
    public void judge(II_Result result) {
        first.close();
        int beforeLast = freedBeside + thing.frees.get();
        if (third != null) {
            third.close();
        }
        result.r1 = third != null && beforeLast == 0 ? 1 : 0;
        result.r2 = thing.frees.get();
    }
}
