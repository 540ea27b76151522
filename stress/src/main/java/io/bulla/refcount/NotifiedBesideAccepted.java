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

/// KernelSend: the lease is closed once, after the answer and the notification, whichever comes first.
@JCStressTest
@Outcome(id = "1, 2, 1", expect = ACCEPTABLE, desc = "both events' uses happened before the one close")
@Outcome(expect = FORBIDDEN)
@State
public class NotifiedBesideAccepted {

    private int usedBySender;
    private int usedByReaper;
    private int sawSender;
    private int sawReaper;
    private int closes;
    private final RefCount thing = new RefCount(null) {
        @Override
        protected void free() {
            sawSender = usedBySender;
            sawReaper = usedByReaper;
            closes++;
        }
    };
    private final KernelSend send = new KernelSend(new Claim(thing), 1);

    public NotifiedBesideAccepted() {
        send.begin();
    }

    @Actor
    public void accepted() {
        usedBySender = 1;
        send.accepted(1, true);
    }

    @Actor
    public void notified() {
        usedByReaper = 2;
        send.notified();
    }

    @Arbiter
    public void judge(III_Result result) {
        result.r1 = sawSender;
        result.r2 = sawReaper;
        result.r3 = closes;
    }
}
