// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.time.Instant;

/// A checkpoint in figures.
///
/// @param epoch its number
/// @param taken when its manifest was made, by the clock of that machine
/// @param nodes of the job
/// @param messages that were undelivered, of all nodes; of one that its receiver had taken in and its sender did not
///     know so, both count
/// @param bytes of all rank files
public record CheckpointSummary(long epoch, Instant taken, int nodes, long messages, long bytes) {}
