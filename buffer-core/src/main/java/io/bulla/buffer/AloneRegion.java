package io.bulla.buffer;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.iovec.Generation;
import java.lang.foreign.MemorySegment;

/// A region with a chunk of its own: a large one, or any on a checked source.
final class AloneRegion implements Region {

    /// What a checked source writes over what is given back.
    static final byte POISON = (byte) 0xdd;

    private final Chunk chunk;
    private final ArenaCloser closer;
    private final MemorySegment segment;
    private final Generation generation;

    AloneRegion(Chunk chunk, ArenaCloser closer, boolean checked) {
        this.chunk = chunk;
        this.closer = closer;
        this.segment = chunk.memory;
        this.generation = checked ? new Generation() : null;
    }

    @Override
    public MemorySegment segment() {
        return segment;
    }

    @Override
    public Generation generation() {
        return generation;
    }

    @Override
    public void release() {
        if (generation == null) {
            closer.close(chunk);
        } else {
            generation.end();
            segment.fill(POISON);
            closer.quarantine(chunk);
        }
    }
}
