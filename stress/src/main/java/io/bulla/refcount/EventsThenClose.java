// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/// SendTicket: the lease is closed once, after every event, and what happened before an event happened before the
/// close.
@JCStressTest
@Outcome(id = "1, 2, 1", expect = ACCEPTABLE, desc = "both events' uses happened before the one close")
@Outcome(expect = FORBIDDEN)
@State
public class EventsThenClose {

    private int usedByFirst;
    private int usedBySecond;
    private int sawFirst;
    private int sawSecond;
    private int closes;
    private final RefCount thing = new RefCount(null) {
        @Override
        protected void free() {
            sawFirst = usedByFirst;
            sawSecond = usedBySecond;
            closes++;
        }
    };
    private final SendTicket ticket = new SendTicket(new Claim(thing), 2);

    @Actor
    public void accepted() {
        usedByFirst = 1;
        ticket.happened();
    }

    @Actor
    public void notRead() {
        usedBySecond = 2;
        ticket.happened();
    }

    @Arbiter
    public void judge(III_Result result) {
        result.r1 = sawFirst;
        result.r2 = sawSecond;
        result.r3 = closes;
    }
}
