// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/// What arrives is put together first, and counts as arrived then.
class ReassemblerFailureTest {

    private static final int PART = Frame.MIN_FRAGMENT;

    private boolean fails;
    private final ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), new LeaseTrace() {
        @Override
        public Object opened(Lease lease, RefCount count, Object tag) {
            if (fails) {
                throw new IllegalStateException("as told");
            }
            return lease;
        }

        @Override
        public void closed(Lease lease, Object traced) {}
    });
    private final Reassembler reassembler = new Reassembler();

    private static Frame frame(int offset) throws IOException {
        ByteBuf header = Unpooled.buffer(Frame.BYTES);
        Frame.write(header, Frame.Kind.DIRECT, 0, 7, 0, 0, offset, 2L * PART, 0, 0, PART, Lane.BULK);
        return Frame.read(header.nioBuffer(), 1 << 20);
    }

    private SealedBuffer part(int first) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, PART)) {
            return builder.put((byte) first).put(new byte[PART - 1]).seal();
        }
    }

    @Test
    void messageThatCannotBePutTogetherHasNotArrived() throws Exception {
        assertNull(reassembler.take(frame(0), part(1)));
        SealedBuffer last = part(2);
        fails = true;
        assertThrows(IllegalStateException.class, () -> reassembler.take(frame(PART), last));
        fails = false;
        assertFalse(last.isOpen());
        assertEquals(0, reassembler.expected());
        // the connection has ended, and the message comes again
        reassembler.interrupt();
        assertNull(reassembler.take(frame(0), part(3)));
        try (SealedBuffer whole = reassembler.take(frame(PART), part(4))) {
            assertEquals(2 * PART, whole.byteSize());
            assertEquals(3, whole.toByteArray()[0]);
            assertEquals(4, whole.toByteArray()[PART]);
        }
        assertEquals(1, reassembler.expected());
        source.close(Duration.ofSeconds(20));
    }
}
