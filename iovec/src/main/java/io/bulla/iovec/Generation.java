// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

/// A stamp that views carry: once it has ended, they throw.
///
/// ```
/// current --end()--> ended      ended is final
/// ```
///
/// Checking is a plain read: a view that is used beside the end may still pass, as it may have a moment
/// earlier. The owner of the memory decides what such a view finds there.
public final class Generation {

    // plain: see above; the owner's own handing on of the memory orders everything that matters
    private boolean ended;

    /// A stamp that has not ended.
    public Generation() {}

    /// Ends the stamp: every view that carries it throws from now on. Again is harmless.
    public void end() {
        ended = true;
    }

    /// Tells whether the stamp has ended.
    boolean isEnded() {
        return ended;
    }

    /// Passes while the stamp has not ended.
    ///
    /// @throws IllegalStateException once it has
    public void check() {
        if (ended) {
            throw new IllegalStateException("stale view: its memory was given back");
        }
    }
}
