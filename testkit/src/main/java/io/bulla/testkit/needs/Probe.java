// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.needs;

import org.jspecify.annotations.Nullable;

/// Tries a piece of the machine by using it.
///
/// An implementation has a constructor without parameters. It is asked once in a JVM.
public interface Probe {

    /// Uses the piece.
    ///
    /// @return why it cannot be used here, in one line, or `null` if it can
    /// @throws Exception whose message says why it cannot be used here
    @Nullable
    String missing() throws Exception;
}
