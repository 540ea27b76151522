// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.memfd;

import io.bulla.buffer.MemoryBudget;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.internal.Live;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// What a source has booked for its files, and how many there are: what it tells of itself when it is asked from
/// outside. Files keep it, so that it tells for as long as there are any, also when the program has forgotten the
/// source.
final class Bookings {

    private final MemoryBudget budget;
    private final MappingProtection guard;
    private final @Nullable LeaseTrace trace;
    // volatile: two counters, read as snapshots; not adders, which take from the heap, and that may be full
    private final AtomicLong files = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();

    Bookings(MemoryBudget budget, MappingProtection guard, @Nullable LeaseTrace trace) {
        this.budget = budget;
        this.guard = guard;
        this.trace = trace;
        Live.put("source", Bookings.class, this, Bookings::line);
    }

    boolean tryTake(long wanted) {
        boolean taken = budget.tryTake(wanted);
        if (taken) {
            bytes.addAndGet(wanted);
        }
        return taken;
    }

    void give(long unused) {
        bytes.addAndGet(-unused);
        budget.give(unused);
    }

    void opened() {
        files.incrementAndGet();
    }

    /// @param booked for the file
    void freed(long booked) {
        files.decrementAndGet();
        give(booked);
    }

    /// For an error message: empty if no holder is known.
    String heldBy() {
        String holders = trace == null ? "" : trace.summary();
        return holders.isEmpty() ? "" : " held by [" + holders + "]";
    }

    private List<String> line() {
        return List.of("guard=" + guard + " files=" + files.get() + " booked=" + bytes.get() + " used=" + budget.used()
                + " limit=" + budget.limit() + " held by [" + (trace == null ? "not traced" : trace.summary()) + "]");
    }
}
