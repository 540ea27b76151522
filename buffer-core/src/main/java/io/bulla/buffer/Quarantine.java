// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Regions that were poisoned and wait, in the order in which they came, behind so many bytes of later ones; then
/// each is searched for writes that came too late, and goes. All but the count belongs to the source's thread.
final class Quarantine {

    /// The most bytes that a checked source keeps poisoned before it frees them.
    static final long BYTES = 16 << 20;

    private final long limit;
    // volatile: written by the thread alone, read as a snapshot
    private final AtomicLong lateWrites = new AtomicLong();
    private @Nullable AloneRegion first;
    private @Nullable AloneRegion last;
    private long bytes;

    /// @param limit bytes to be kept
    Quarantine(long limit) {
        this.limit = limit;
    }

    long lateWrites() {
        return lateWrites.get();
    }

    /// Takes regions in, and lets the oldest go.
    ///
    /// @param oldest linked to those that came after it
    void keep(AloneRegion oldest) {
        if (first == null || last == null) {
            first = oldest;
        } else {
            last.next = oldest;
        }
        for (AloneRegion one = oldest; one != null; one = one.next) {
            last = one;
            bytes += one.segment().byteSize();
        }
        shrinkTo(limit);
    }

    /// Lets all of them go.
    void end() {
        shrinkTo(0);
    }

    private void shrinkTo(long most) {
        while (first != null && bytes > most) {
            AloneRegion one = first;
            first = one.next;
            one.next = null;
            bytes -= one.segment().byteSize();
            free(one);
        }
    }

    private void free(AloneRegion region) {
        if (!region.leave()) {
            lateWrites.incrementAndGet();
            System.getLogger("io.bulla.buffer")
                    .log(
                            System.Logger.Level.ERROR,
                            "memory written after it was given back: byteSize=" + region.byteSize());
        }
    }
}
