// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.cut;

/// Which checkpoint a [NodeCut] is of. Nodes say it to each other when they go on from one: cuts of two checkpoints
/// do not fit together, nor does a cut beside a node that has gone on.
///
/// @param epoch number of the checkpoint in its folder
/// @param attempt random number of the attempt that took it, which no other job and no other checkpoint has; 0: not
///     known
public record CutName(long epoch, long attempt) {

    /// As log lines have it.
    @Override
    public String toString() {
        return "epoch=" + epoch + " attempt=" + Long.toHexString(attempt);
    }
}
