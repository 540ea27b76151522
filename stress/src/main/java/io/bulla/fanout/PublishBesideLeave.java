// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.bulla.buffer.SealedBuffer;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/// What would wait for a subscriber that leaves is given back, once, and its transport is not called.
@JCStressTest
@Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "refused, or given back by the one that leaves")
@Outcome(expect = FORBIDDEN)
@State
public class PublishBesideLeave {

    private final Counted transport = new Counted(false);
    private final Fanout feed = Fanout.builder().build();
    private final Subscription reader = feed.subscribe(transport);
    private final SealedBuffer message = transport.message();

    @Actor
    public void publisher() {
        Counted.publish(feed, message);
    }

    @Actor
    public void leaver() {
        reader.leave();
    }

    @Arbiter
    public void judge(III_Result result) {
        message.close();
        result.r1 = transport.releases.get();
        result.r2 = transport.ends.get();
        result.r3 = (int) feed.queued() + feed.figures().subscribers() + reader.queued();
    }
}
