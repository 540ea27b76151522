// SPDX-License-Identifier: Apache-2.0
/// Checkpoints of a job as files: the undelivered messages of its nodes, and the state of its program.
///
/// - [Checkpoints][io.bulla.runtime.checkpoint.Checkpoints] takes checkpoints of nodes that go on, a
///   [CheckpointTicket][io.bulla.runtime.checkpoint.CheckpointTicket] for each; a
///   [StateSaver][io.bulla.runtime.checkpoint.StateSaver] adds a part of the program's state.
/// - [Restored][io.bulla.runtime.checkpoint.Restored]: one node's part, in another process, to be gone on with.
/// - [RankImage][io.bulla.runtime.checkpoint.RankImage]: one node's cut and the program's own state there.
/// - [CheckpointArchive][io.bulla.runtime.checkpoint.CheckpointArchive] writes images, makes a checkpoint of them,
///   and reads them back within limits and a budget.
/// - [CheckpointManifest][io.bulla.runtime.checkpoint.CheckpointManifest] is what makes a checkpoint of files: it
///   names all of them, with their digests.
/// - [CheckpointStore][io.bulla.runtime.checkpoint.CheckpointStore]: where files are kept;
///   [FolderStore][io.bulla.runtime.checkpoint.FolderStore] keeps them in a folder, and survives a crash at any step.
///
/// A checkpoint is whole or does not exist. Sealed regions go to the file by gathering writes, and come back into the
/// memory of a source. Each record has checksums, so damage is found before it is believed; no length of a file is
/// believed before a limit has been asked.
@NullMarked
package io.bulla.runtime.checkpoint;

import org.jspecify.annotations.NullMarked;
