// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.internal;

/// How long to wait before what failed is tried again: at most as long as it has failed already, so what holds it for
/// hours costs little, and what holds it for a moment delays it by no more than that. One thread's.
public final class RetryPause {

    private final long first;
    private final long longest;
    private long pause;
    private long tried;

    /// Nothing was tried yet.
    ///
    /// @param first pause, in nanoseconds
    /// @param longest pause, in nanoseconds
    public RetryPause(long first, long longest) {
        this.first = first;
        this.longest = longest;
        this.pause = first;
    }

    /// The pause of now.
    ///
    /// @return nanoseconds
    public long nanos() {
        return pause;
    }

    /// Whether it is time to try again.
    ///
    /// @param now in nanoseconds of [System#nanoTime()]
    /// @return whether the pause since the last try is over
    public boolean isOver(long now) {
        return now - tried >= pause;
    }

    /// All that failed was tried again.
    ///
    /// @param now in nanoseconds of [System#nanoTime()]
    /// @param some whether some of it no longer fails
    public void tried(long now, boolean some) {
        tried = now;
        pause = some ? first : Math.min(2 * pause, longest);
    }

    /// Something else has failed, for the first time.
    public void restart() {
        pause = first;
    }
}
