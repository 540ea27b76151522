// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.time.Duration;
import java.util.List;

/// A broadcast that everybody alive has.
///
/// @param reached number of nodes that have it, without the one that sent it
/// @param failed ranks of those that failed before they confirmed it, ascending; what they had below them in
///     the tree was reached by another way
/// @param nanos from the call to the last confirmation
public record BroadcastResult(int reached, List<Integer> failed, long nanos) {

    /// From the call to the last confirmation.
    ///
    /// @return at least 0
    public Duration duration() {
        return Duration.ofNanos(nanos);
    }
}
