// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.checkpoint;

import io.bulla.cli.shell.Usage;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/// Options of `bulla node` for checkpoints.
public final class CheckpointFlags {

    private static final Duration EVERY = Duration.ofSeconds(30);

    @Option(
            names = "--checkpoint",
            paramLabel = "DIR",
            description =
                    "Take part in checkpoints, whose files are in this folder. All nodes of the job do, rank 0 too,"
                            + " and all see the folder.")
    Path folder;

    @Option(
            names = "--every",
            paramLabel = "TIME",
            converter = Usage.Time.class,
            description = "With --checkpoint: rank 0 asks for one each time: 30s, which is the default, 5m.")
    Duration every;

    @Option(
            names = "--checkpoint-on-exit",
            description =
                    "With --checkpoint: take one of the whole job when the node is told to end, by SIGTERM, and leave"
                            + " behind it. It has half of --grace; without one the status is 1.")
    boolean onExit;

    @Option(
            names = "--restore",
            paramLabel = "DIR",
            description = "Go on from the newest whole checkpoint in this folder. All nodes of the job do; where they"
                    + " listen does not matter.")
    Path from;

    @Option(
            names = "--epoch",
            paramLabel = "NUMBER",
            description = "With --restore: from this checkpoint; `bulla checkpoint list DIR` shows which there are.")
    Long epoch;

    @Option(
            names = "--exchange",
            paramLabel = "TIME",
            converter = Usage.Time.class,
            description = "For a trial: send every other node a numbered message each time, and count what is lost or"
                    + " comes twice. The counts and numbers are this node's state in checkpoints.")
    Duration exchange;

    /// Whether the node shall leave with a checkpoint.
    public boolean areOnExit() {
        return onExit;
    }

    /// Whether the job's rank 0 may be such a node: there is something to do without a broadcast from `bulla xcast`.
    public boolean areGiven() {
        return folder != null || from != null || exchange != null;
    }

    /// @throws picocli.CommandLine.ParameterException if they do not fit together, or a folder is none
    public void check(CommandSpec command) {
        if (every != null && folder == null) {
            throw Usage.error(command, "--every is with --checkpoint DIR");
        }
        if (onExit && folder == null) {
            throw Usage.error(command, "--checkpoint-on-exit is with --checkpoint DIR");
        }
        if (epoch != null && from == null) {
            throw Usage.error(command, "--epoch is with --restore DIR");
        }
        if (epoch != null) {
            Usage.atLeast(command, "--epoch", 0, epoch);
        }
        if (from != null && !Files.isDirectory(from)) {
            throw Usage.error(command, (Files.exists(from) ? "not a folder: " : "no such folder: ") + from);
        }
        if (folder != null && Files.exists(folder) && !Files.isDirectory(folder)) {
            throw Usage.error(command, "not a folder: " + folder);
        }
    }

    Duration period() {
        return every == null ? EVERY : every;
    }

    /// A folder that was made is on the medium, or a crash takes its checkpoints with it.
    private static void createAndForce(Path folder) throws IOException {
        Path parent = folder.getParent();
        if (Files.isDirectory(folder) || parent == null) {
            return;
        }
        createAndForce(parent);
        // another node may be first
        Files.createDirectories(folder);
        try (FileChannel names = FileChannel.open(parent, StandardOpenOption.READ)) {
            names.force(true);
        } catch (AccessDeniedException ofAnotherUser) {
            // it may not be opened, so its owner has to force it
        }
    }

    /// Makes the folder, and a file in it that is gone again: what cannot work is said before a node runs.
    ///
    /// @throws IOException that names the folder
    void checkFolder() throws IOException {
        if (folder == null) {
            return;
        }
        try {
            createAndForce(folder.toAbsolutePath());
            Files.delete(Files.createTempFile(folder, "bulla-", ".probe"));
        } catch (IOException cannot) {
            String path = cannot instanceof java.nio.file.FileSystemException system && system.getReason() != null
                    ? system.getReason()
                    : cannot.getClass().getSimpleName();
            throw new IOException("cannot write checkpoints: folder=" + folder + " reason=" + path, cannot);
        }
    }
}
