// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.buffer.MemorySource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.stream.Stream;

/// A source that hands out again at once what was given back, without any care for stale readers: with it in
/// place of [io.bulla.buffer.ArenaSource], one sees what memory that is never reused costs. Not for programs.
///
/// Sizes are powers of two; nothing goes back to the system.
final class ReusingSource implements MemorySource {

    private static final int SIZES = 31;
    private static final int ALIGN = 8;

    private record Kept(MemorySegment segment, Deque<Kept> home) implements Region {

        @Override
        public void release() {
            home.push(this);
        }
    }

    // one for the life of the process
    private final Arena arena = Arena.ofShared();
    private final List<Deque<Kept>> free = Stream.<Deque<Kept>>generate(ConcurrentLinkedDeque::new)
            .limit(SIZES)
            .toList();

    @Override
    public Region allocate(long byteSize) {
        int size = Long.SIZE - Long.numberOfLeadingZeros(byteSize - 1);
        Deque<Kept> home = free.get(size);
        Kept again = home.poll();
        return again != null ? again : new Kept(arena.allocate(1L << size, ALIGN), home);
    }
}
