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

/// RefCount 1, in the word: the thread that frees sees every use by every holder.
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "both uses happened before the free")
@Outcome(expect = FORBIDDEN)
@State
public class UseThenFree {

    private int usedByFirst;
    private int usedBySecond;
    private int sawFirst;
    private int sawSecond;
    private final RefCount thing = new RefCount(null) {
        @Override
        protected void free() {
            sawFirst = usedByFirst;
            sawSecond = usedBySecond;
        }
    };
    private final Claim first = new Claim(thing);
    private final Claim second = first.share();

    @Actor
    public void one() {
        usedByFirst = 1;
        first.close();
    }

    @Actor
    public void two() {
        usedBySecond = 2;
        second.close();
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = sawFirst;
        result.r2 = sawSecond;
    }
}
