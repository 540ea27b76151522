// SPDX-License-Identifier: Apache-2.0
/// Reads a job's checkpoints in a folder, and lets a node take part in them.
///
/// [CheckpointCommand][io.bulla.cli.checkpoint.CheckpointCommand] finds them;
/// [Contents][io.bulla.cli.checkpoint.Contents] says what is in a rank's file.
/// [NodeCheckpoints][io.bulla.cli.checkpoint.NodeCheckpoints] is what `bulla node` does with its
/// [CheckpointFlags][io.bulla.cli.checkpoint.CheckpointFlags]; an [Exchange][io.bulla.cli.checkpoint.Exchange] makes
/// messages for it.
package io.bulla.cli.checkpoint;
