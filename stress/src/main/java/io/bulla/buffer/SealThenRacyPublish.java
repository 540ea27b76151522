// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Seal publishes: a buffer that is shown through a plain field is seen whole or not at all.
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "not published yet")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "published: every byte is there")
@Outcome(expect = FORBIDDEN)
@State
public class SealThenRacyPublish {

    private static final ArenaSource SOURCE = ArenaSource.create();

    private SealedBuffer published;

    @Actor
    public void packer() {
        published = Poisoned.sealed(SOURCE);
    }

    @Actor
    public void reader(I_Result result) {
        SealedBuffer seen = published;
        result.r1 = seen == null ? 0 : Poisoned.read(seen);
    }

    @Arbiter
    public void closer() {
        published.close();
    }
}
