// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Magazine 2: a shared magazine is one thread's at a time.
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "one got in, the other did without")
@Outcome(id = "2, 2", expect = ACCEPTABLE, desc = "one after the other")
@Outcome(expect = FORBIDDEN, desc = "both at once")
@State
public class EnterBesideEnter {

    private final Magazine shared = new Magazine(null, 1 << 20);

    private int inside;
    private int entered1;
    private int entered2;

    private int use() {
        if (!shared.tryEnter()) {
            return 0;
        }
        inside++;
        shared.exit();
        return 1;
    }

    @Actor
    public void one() {
        entered1 = use();
    }

    @Actor
    public void two() {
        entered2 = use();
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = entered1 + entered2;
        result.r2 = inside;
    }
}
