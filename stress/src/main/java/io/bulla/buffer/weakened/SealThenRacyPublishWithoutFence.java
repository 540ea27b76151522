// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Twin of `SealThenRacyPublish` that lacks the fence between the bytes and the handle.
@JCStressTest
@Outcome(id = "-1", expect = ACCEPTABLE, desc = "not published yet")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "published: the byte is there")
@Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "x86 hides it: published empty")
@Outcome(expect = FORBIDDEN)
@State
public class SealThenRacyPublishWithoutFence {

    private record Handle(MemorySegment bytes) {}

    private final MemorySegment memory = MemorySegment.ofArray(new byte[8]);
    private Handle published;

    @Actor
    public void packer() {
        Handle handle = new Handle(memory);
        memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
        published = handle;
    }

    @Actor
    public void reader(I_Result result) {
        Handle seen = published;
        result.r1 = seen == null ? -1 : seen.bytes().get(ValueLayout.JAVA_BYTE, 0);
    }
}
