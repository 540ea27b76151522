// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.runtime.oob.OobNode;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/// What checkpoints of a node save, and how many are kept.
public final class CheckpointsBuilder {

    private final OobNode node;
    private final CheckpointStore store;
    private final Map<String, StateSaver> savers = new TreeMap<>();
    private int keeps = 2;

    CheckpointsBuilder(OobNode node, CheckpointStore store) {
        this.node = Objects.requireNonNull(node, "node");
        this.store = Objects.requireNonNull(store, "store");
    }

    /// Saves a part of the program's state in each checkpoint.
    ///
    /// @param name at most 255 bytes in UTF-8
    /// @param saver replaces the name's former one
    /// @return this builder
    /// @throws IllegalArgumentException if the name is too long
    public CheckpointsBuilder save(String name, StateSaver saver) {
        RankWriter.name(name);
        savers.put(name, Objects.requireNonNull(saver, "saver"));
        return this;
    }

    /// How many checkpoints stay; older ones are deleted by the node that has taken a new one. Two by default.
    ///
    /// @param checkpoints at least 1
    /// @return this builder
    /// @throws IllegalArgumentException if it is less
    public CheckpointsBuilder keep(int checkpoints) {
        if (checkpoints < 1) {
            throw new IllegalArgumentException("checkpoints to keep: given=" + checkpoints + " least=1");
        }
        keeps = checkpoints;
        return this;
    }

    /// Takes part in checkpoints from now on.
    ///
    /// @return to be closed before the node
    public Checkpoints open() {
        return new Checkpoints(node, store, Map.copyOf(savers), keeps);
    }
}
