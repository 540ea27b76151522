// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/// Settings of a node's checkpoints: the state that they save, and how many are kept.
///
/// @param savers of the parts of the program's state, by name; names of at most 255 bytes in UTF-8
/// @param kept how many checkpoints stay, at least 1; older ones are deleted by the node that has taken a new one
public record CheckpointOptions(Map<String, StateSaver> savers, int kept) {

    /// No state but the messages; two checkpoints stay.
    public static final CheckpointOptions DEFAULT = new CheckpointOptions(Map.of(), 2);

    /// Checks the options.
    ///
    /// @throws IllegalArgumentException if a name is too long, or no checkpoint would stay
    public CheckpointOptions {
        savers = Map.copyOf(savers);
        savers.keySet().forEach(RankWriter::name);
        if (kept < 1) {
            throw new IllegalArgumentException("checkpoints to keep: given=" + kept + " least=1");
        }
    }

    /// The same, and a part of the program's state in each checkpoint.
    ///
    /// @param name of the state
    /// @param saver replaces the name's former one
    /// @return other options
    /// @throws IllegalArgumentException if the name is over 255 bytes in UTF-8
    public CheckpointOptions save(String name, StateSaver saver) {
        SortedMap<String, StateSaver> all = new TreeMap<>(savers);
        all.put(name, Objects.requireNonNull(saver, "saver"));
        return new CheckpointOptions(all, kept);
    }

    /// The same, with another number of checkpoints that stay.
    ///
    /// @param checkpoints at least 1
    /// @return other options
    /// @throws IllegalArgumentException if it is less
    public CheckpointOptions keep(int checkpoints) {
        return new CheckpointOptions(savers, checkpoints);
    }
}
