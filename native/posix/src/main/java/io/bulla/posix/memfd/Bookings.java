// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.memfd;

import io.bulla.buffer.MemoryBudget;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.internal.Live;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/// What a source has booked for its files, and how many there are: what it tells of itself when it is asked from
/// outside. Files keep it, so that it tells for as long as there are any, also when the program has forgotten the
/// source.
final class Bookings {

    private final MemoryBudget budget;
    private final MappingProtection guard;
    private final @Nullable LeaseTrace trace;
    private final LongAdder files = new LongAdder();
    private final LongAdder bytes = new LongAdder();

    Bookings(MemoryBudget budget, MappingProtection guard, @Nullable LeaseTrace trace) {
        this.budget = budget;
        this.guard = guard;
        this.trace = trace;
        Live.put("source", Bookings.class, this, Bookings::line);
    }

    boolean tryTake(long wanted) {
        boolean taken = budget.tryTake(wanted);
        if (taken) {
            bytes.add(wanted);
        }
        return taken;
    }

    void give(long unused) {
        bytes.add(-unused);
        budget.give(unused);
    }

    void opened() {
        files.increment();
    }

    /// @param booked for the file
    void freed(long booked) {
        files.decrement();
        give(booked);
    }

    /// For an error message: empty if no holder is known.
    String heldBy() {
        String holders = trace == null ? "" : trace.summary();
        return holders.isEmpty() ? "" : " held by [" + holders + "]";
    }

    private List<String> line() {
        return List.of("guard=" + guard + " files=" + files.sum() + " booked=" + bytes.sum() + " used=" + budget.used()
                + " limit=" + budget.limit() + " held by [" + (trace == null ? "not traced" : trace.summary()) + "]");
    }
}
