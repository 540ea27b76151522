// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import java.lang.foreign.ValueLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Generation 1: a read beside the last close sees its own bytes or an exception, also when the memory is another's
/// at once.
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "the bytes that were sealed")
@Outcome(id = "2", expect = ACCEPTABLE, desc = "an exception")
@Outcome(expect = FORBIDDEN, desc = "another owner's bytes")
@State
public class ReadBesideReuse {

    private static final SlabSource MEMORY = SlabSource.create();

    private final SealedBuffer handle;
    private final IoVec kept;

    public ReadBesideReuse() {
        try (BufferBuilder builder = BufferBuilder.create(MEMORY)) {
            handle = builder.putInt(1).seal();
        }
        kept = handle.iovec();
    }

    @Actor
    public void owner() {
        handle.close();
        Region next = MEMORY.allocate(256);
        next.segment().set(ValueLayout.JAVA_INT, 0, 0x03030303);
        next.release();
    }

    @Actor
    public void reader(I_Result result) {
        try {
            result.r1 = kept.getInt(0);
        } catch (IllegalStateException late) {
            result.r1 = 2;
        }
    }
}
