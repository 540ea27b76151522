// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.iovec.Generation;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/// A region with a chunk of its own: a large one, or any on a checked source.
final class AloneRegion implements Region {

    /// The poison that a checked source writes over memory that is given back.
    static final byte POISON = (byte) 0xdd;

    private final Chunk chunk;
    private final ArenaCloser closer;
    private final MemorySegment segment;
    private final @Nullable Generation generation;
    private boolean released;
    // of those in quarantine
    @Nullable
    AloneRegion next;

    /// Takes over the only holder of `chunk`.
    AloneRegion(Chunk chunk, ArenaCloser closer, MemorySegment segment, boolean checked) {
        this.chunk = chunk;
        this.closer = closer;
        this.segment = segment;
        this.generation = checked ? new Generation() : null;
    }

    @Override
    public MemorySegment segment() {
        return segment;
    }

    @Override
    public @Nullable Generation generation() {
        return generation;
    }

    /// Again is an error: the chunk has one holder.
    @Override
    public void release() {
        if (released) {
            throw new IllegalStateException("region already given back: byteSize=" + segment.byteSize());
        }
        // plain: finds a mistake, not a race
        released = true;
        if (generation == null) {
            chunk.leave();
        } else {
            generation.end();
            segment.fill(POISON);
            closer.quarantine(this);
        }
    }

    /// Ends the quarantine.
    ///
    /// @return whether the poison is as it was
    boolean leave() {
        boolean intact = true;
        for (long i = 0; i < segment.byteSize() && intact; i++) {
            intact = segment.get(ValueLayout.JAVA_BYTE, i) == POISON;
        }
        chunk.leave();
        return intact;
    }
}
