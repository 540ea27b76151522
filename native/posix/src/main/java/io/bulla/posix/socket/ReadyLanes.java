// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import org.jspecify.annotations.Nullable;

/// Lanes whose next call may be given to the kernel, in order, each once. They link each other, so that none is
/// forgotten for want of heap.
final class ReadyLanes {

    private @Nullable Lane first;
    private @Nullable Lane last;

    /// Cannot fail; again is harmless.
    void add(Lane lane) {
        if (lane.ready) {
            return;
        }
        lane.ready = true;
        if (last == null) {
            first = lane;
        } else {
            last.nextReady = lane;
        }
        last = lane;
    }

    /// @return `null` if there is none
    @Nullable
    Lane first() {
        return first;
    }

    /// Of at least one.
    void removeFirst() {
        Lane gone = first;
        if (gone != null) {
            first = gone.nextReady;
            last = first == null ? null : last;
            gone.nextReady = null;
            gone.ready = false;
        }
    }

    void clear() {
        while (first != null) {
            removeFirst();
        }
    }
}
