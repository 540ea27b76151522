// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.RecordView;
import java.lang.foreign.ValueLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Generation 1: a reader of a record beside the last close, which looks at each read or once at the end, sees its
/// own bytes or an exception.
@JCStressTest
@Outcome(
        id = {"1, 1", "1, 2", "2, 2"},
        expect = ACCEPTABLE,
        desc = "the bytes that were sealed, or an exception, for each")
@Outcome(expect = FORBIDDEN, desc = "another owner's bytes")
@State
public class RecordBesideReuse {

    private static final SlabSource MEMORY = SlabSource.create();

    private final SealedBuffer handle;
    private final RecordView kept;

    public RecordBesideReuse() {
        try (BufferBuilder builder = BufferBuilder.create(MEMORY)) {
            handle = builder.record(8).putInt(1).putInt(1).end().seal();
        }
        kept = handle.iovec().record(0, 8);
    }

    @Actor
    public void owner() {
        handle.close();
        Region next = MEMORY.allocate(256);
        next.segment().set(ValueLayout.JAVA_LONG, 0, 0x03030303_03030303L);
        next.release();
    }

    @Actor
    public void reader(II_Result result) {
        try {
            result.r1 = kept.getInt(0);
        } catch (IllegalStateException late) {
            result.r1 = 2;
        }
        try {
            int read = kept.lent().getInt(4);
            kept.verify();
            result.r2 = read;
        } catch (IllegalStateException late) {
            result.r2 = 2;
        }
    }
}
