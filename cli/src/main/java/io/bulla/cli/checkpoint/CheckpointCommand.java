// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.checkpoint;

import io.bulla.buffer.ArenaSource;
import io.bulla.cli.shell.Usage;
import io.bulla.runtime.checkpoint.CheckpointArchive;
import io.bulla.runtime.checkpoint.CheckpointException;
import io.bulla.runtime.checkpoint.CheckpointManifest;
import io.bulla.runtime.checkpoint.CheckpointSummary;
import io.bulla.runtime.checkpoint.FolderStore;
import io.bulla.runtime.checkpoint.RankEntry;
import io.bulla.runtime.checkpoint.RankImage;
import io.bulla.runtime.checkpoint.RestoreLimits;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `bulla checkpoint`: lists, shows and verifies.
@Command(
        name = "checkpoint",
        mixinStandardHelpOptions = true,
        description = "Looks into the checkpoints of a folder. Exit status 1 when one is damaged, or there is none.")
public final class CheckpointCommand implements Runnable {

    private static final String DIR = "Folder with the checkpoints of a job.";
    private static final String EPOCH = "Number of the checkpoint; the newest whole one without it.";

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw Usage.error(spec, "no command given: list, show, verify");
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "One line for each checkpoint, newest first.")
    int list(@Parameters(paramLabel = "DIR", description = DIR) Path dir) throws IOException {
        FolderStore store = store("list", dir);
        CheckpointArchive archive = CheckpointArchive.of(store);
        List<Long> epochs = store.epochs();
        if (epochs.isEmpty()) {
            throw none(dir);
        }
        int status = 0;
        for (long epoch : epochs) {
            try {
                print(archive.manifest(epoch).summary());
            } catch (CheckpointException damaged) {
                out().println("checkpoint " + epoch + ": " + damaged.getMessage());
                status = 1;
            }
        }
        return status;
    }

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "What a checkpoint holds: states, and undelivered messages by peer and tag.")
    int show(
            @Parameters(paramLabel = "DIR", description = DIR) Path dir,
            @Option(names = "--epoch", paramLabel = "NUMBER", description = EPOCH) Long epoch,
            @Option(
                            names = "--items",
                            description = "Each message, with a tree of its items where it says its format and types.")
                    boolean items)
            throws IOException {
        CheckpointArchive archive = CheckpointArchive.of(store("show", dir));
        CheckpointManifest manifest = manifest("show", archive, dir, epoch);
        print(manifest.summary());
        for (RankEntry entry : manifest.ranks()) {
            try (ArenaSource memory = ArenaSource.create();
                    RankImage image = archive.read(manifest, entry.rank(), memory, RestoreLimits.DEFAULT)) {
                out().println("rank " + entry.rank() + ": " + Contents.counted(entry.messages(), entry.bytes()));
                new Contents(image).print(out(), items);
            }
        }
        return 0;
    }

    @Command(
            name = "verify",
            mixinStandardHelpOptions = true,
            description = "Holds the files of a checkpoint against the digests of its manifest.")
    int verify(
            @Parameters(paramLabel = "DIR", description = DIR) Path dir,
            @Option(names = "--epoch", paramLabel = "NUMBER", description = EPOCH) Long epoch)
            throws IOException {
        CheckpointArchive archive = CheckpointArchive.of(store("verify", dir));
        CheckpointManifest manifest = manifest("verify", archive, dir, epoch);
        archive.verify(manifest);
        CheckpointSummary summary = manifest.summary();
        out().println("verified: epoch=" + summary.epoch() + " files=" + (summary.nodes() + 1) + " bytes="
                + summary.bytes());
        return 0;
    }

    private FolderStore store(String command, Path dir) {
        if (!Files.isDirectory(dir)) {
            throw usage(command, (Files.exists(dir) ? "not a folder: " : "no such folder: ") + dir);
        }
        return FolderStore.of(dir);
    }

    private CheckpointManifest manifest(String command, CheckpointArchive archive, Path dir, Long epoch)
            throws IOException {
        if (epoch == null) {
            return archive.latest().orElseThrow(() -> none(dir));
        }
        if (epoch < 0) {
            throw usage(command, "--epoch must be at least 0: given=" + epoch);
        }
        return archive.manifest(epoch);
    }

    private ParameterException usage(String command, String message) {
        return new ParameterException(spec.subcommands().get(command), message);
    }

    private static IOException none(Path dir) {
        return new IOException("no checkpoint in " + dir);
    }

    private void print(CheckpointSummary summary) {
        out().println("checkpoint " + summary.epoch() + ": taken " + summary.taken() + " (" + age(summary.taken())
                + " ago), " + summary.nodes() + " nodes, " + Contents.counted(summary.messages(), summary.bytes()));
    }

    private static String age(Instant taken) {
        Duration age = Duration.between(taken, Instant.now());
        if (age.toDays() > 0) {
            return age.toDays() + " d";
        }
        if (age.toHours() > 0) {
            return age.toHours() + " h";
        }
        return age.toMinutes() > 0 ? age.toMinutes() + " min" : Math.max(0, age.toSeconds()) + " s";
    }

    private PrintWriter out() {
        return spec.commandLine().getOut();
    }
}
