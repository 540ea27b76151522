// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

/// One process of a node: a rank may have several, one after the other.
public interface Life {

    int rank();

    /// Whether it was killed, or told to leave.
    boolean isOver();

    /// Whether it was told to leave.
    boolean hasLeft();

    /// When it was killed, or [Long#MAX_VALUE].
    long killedAt();
}
