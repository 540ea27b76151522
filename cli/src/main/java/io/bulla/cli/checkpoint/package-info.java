// SPDX-License-Identifier: Apache-2.0
/// What is in the checkpoints of a folder.
///
/// [CheckpointCommand][io.bulla.cli.checkpoint.CheckpointCommand] finds them;
/// [Contents][io.bulla.cli.checkpoint.Contents] says what is in a rank's file.
package io.bulla.cli.checkpoint;
