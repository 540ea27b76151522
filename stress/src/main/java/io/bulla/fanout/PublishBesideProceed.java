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
import org.openjdk.jcstress.infra.results.II_Result;

/// A message that is published while its transport becomes ready does not wait for the next time.
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "sent by the publisher, or by the transport")
@Outcome(expect = FORBIDDEN)
@State
public class PublishBesideProceed implements Subscriber {

    private final Fanout feed = Fanout.builder().build();
    private final Subscription reader = feed.subscribe(this);
    private final SealedBuffer message = new Counted(true).message();
    private volatile boolean ready;
    private int sent;

    @Override
    public boolean isReady() {
        return ready;
    }

    @Override
    public void send(SealedBuffer message) {
        sent++;
    }

    @Override
    public void close(End why) {}

    @Actor
    public void publisher() {
        Counted.publish(feed, message);
    }

    @Actor
    public void transport() {
        ready = true;
        reader.proceed();
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = sent;
        result.r2 = reader.queued();
        message.close();
    }
}
