// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// A share that races with the close of its own handle is a whole share, or an exception and nothing.
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the share came first, read its bytes, and freed them")
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the close came first: an exception, freed once")
@Outcome(expect = FORBIDDEN)
@State
public class ShareBesideClose {

    private final Poisoned memory = new Poisoned();
    private final SealedBuffer only = Poisoned.sealed(memory);

    @Actor
    public void sharer(II_Result result) {
        try (SealedBuffer mine = only.share()) {
            result.r1 = Poisoned.read(mine);
        } catch (ReleasedBufferException closedBefore) {
            result.r1 = 0;
        }
    }

    @Actor
    public void closer() {
        only.close();
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r2 = memory.releases.get();
    }
}
