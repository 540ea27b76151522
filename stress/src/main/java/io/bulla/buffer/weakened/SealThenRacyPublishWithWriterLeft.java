// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Twin of `SealThenRacyPublish` whose seal leaves a writable alias behind: the packer writes once more.
@JCStressTest
@Outcome(id = "-1", expect = ACCEPTABLE, desc = "not published yet")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "published: the byte is there")
@Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "published, and changed afterwards")
@Outcome(expect = FORBIDDEN)
@State
public class SealThenRacyPublishWithWriterLeft {

    private record Handle(MemorySegment bytes) {}

    private final MemorySegment memory = MemorySegment.ofArray(new byte[8]);
    private Handle published;

    @Actor
    public void packer() {
        Handle handle = new Handle(memory);
        VarHandle.releaseFence();
        published = handle;
        VarHandle.releaseFence();
        memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
    }

    @Actor
    public void reader(I_Result result) {
        Handle seen = published;
        result.r1 = seen == null ? -1 : seen.bytes().get(ValueLayout.JAVA_BYTE, 0);
    }
}
