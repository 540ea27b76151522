// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import java.util.ArrayDeque;
import java.util.Deque;

/// What the last handle of a buffer gives back.
final class Storage extends RefCount {

    /// Concatenations that end within the end of another, on the thread that ends it.
    private static final ThreadLocal<Deque<SealedBuffer[]>> ENDING = new ThreadLocal<>();

    /// One [Region], several, what is [Joined], or [Foreign] memory.
    private final Object owned;

    private Storage(LeaseTrace trace, Object owned) {
        super(trace);
        this.owned = owned;
    }

    /// Of sealed regions: one region, or an array of them; `event` runs until the last close, or is null.
    static Storage of(LeaseTrace trace, Object regions, FlightEvents.LastClose event) {
        return new Storage(trace, event == null ? regions : new Timed(regions, event));
    }

    static Storage of(LeaseTrace trace, SealedBuffer... parts) {
        long pinned = 0;
        for (SealedBuffer part : parts) {
            pinned += part.pinned();
        }
        return new Storage(trace, new Joined(parts, pinned));
    }

    static Storage of(Foreign memory) {
        return new Storage(null, memory);
    }

    /// Memory that somebody else handed in.
    record Foreign(long byteSize, Runnable onRelease) {}

    /// What a concatenation holds, and what that pins in all.
    private record Joined(SealedBuffer[] parts, long pinned) {}

    private record Timed(Object owned, FlightEvents.LastClose event) {}

    @Override
    protected void free() {
        if (owned instanceof Joined joined) {
            giveBackParts(joined.parts);
        } else {
            giveBack(owned);
        }
    }

    /// Concatenations of concatenations, however deep, without a stack as deep: what ends within another's end is
    /// left to that one.
    private static void giveBackParts(SealedBuffer[] parts) {
        Deque<SealedBuffer[]> outer = ENDING.get();
        if (outer != null) {
            outer.add(parts);
            return;
        }
        Deque<SealedBuffer[]> ending = new ArrayDeque<>();
        ENDING.set(ending);
        RuntimeException failure = null;
        try {
            for (SealedBuffer[] next = parts; next != null; next = ending.poll()) {
                try {
                    giveBackAll(next);
                } catch (RuntimeException e) {
                    failure = e;
                }
            }
        } finally {
            ENDING.remove();
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    protected long size() {
        return sizeOf(owned);
    }

    private static void giveBack(Object owned) {
        if (owned instanceof Region region) {
            region.release();
        } else if (owned instanceof SealedBuffer part) {
            part.close();
        } else if (owned instanceof Foreign memory) {
            MemoryBudget.disown(memory.byteSize());
            memory.onRelease().run();
        } else if (owned instanceof Timed timed) {
            timed.event.finish();
            giveBack(timed.owned);
        } else {
            giveBackAll((Object[]) owned);
        }
    }

    /// Every one is given back, even if one of them fails.
    private static void giveBackAll(Object[] several) {
        RuntimeException failure = null;
        for (Object one : several) {
            try {
                giveBack(one);
            } catch (RuntimeException e) {
                failure = e;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private static long sizeOf(Object owned) {
        return switch (owned) {
            case Region region -> region.byteSize();
            case Joined joined -> joined.pinned;
            case Foreign memory -> memory.byteSize();
            case Timed timed -> sizeOf(timed.owned);
            case Object[] several -> {
                long sum = 0;
                for (Object one : several) {
                    sum += sizeOf(one);
                }
                yield sum;
            }
            default -> throw new AssertionError(owned);
        };
    }
}
