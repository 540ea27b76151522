// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.posix.internal.calls.Unmapper;
import org.jspecify.annotations.Nullable;

/// Something said to the lender: now, by any thread, or by the thread that frees, until the socket has room.
abstract class PendingNotice extends Unmapper.Freeable {

    /// Of those that wait for the end of a mapping.
    @Nullable
    PendingNotice next;

    /// @return false if the socket has no room now
    abstract boolean say();

    void now() {
        boolean said = false;
        try {
            said = say();
        } catch (Throwable notNow) {
            // no heap for a thread's scratch: asked again by the thread that has it
        }
        if (!said) {
            Unmapper.MAPPINGS.later(this);
        }
    }

    @Override
    public void free() {
        if (!say()) {
            throw new IllegalStateException("the lender does not read: " + this);
        }
    }
}
