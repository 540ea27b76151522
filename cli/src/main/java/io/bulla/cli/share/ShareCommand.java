// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.share;

import io.bulla.cli.shell.Interruption;
import io.bulla.cli.shell.Usage;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `bulla share`: the options, checked.
@Command(
        name = "share",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = {
            "Hands one file to many processes of this host, real ones, each of which verifies its digest.",
            "What travels is a descriptor of the sealed memory; with --send slab a place in memory that all have mapped;",
            "with --send copy every byte."
        })
public final class ShareCommand implements Callable<Integer> {

    // more than a host has memory for: each is a JVM
    private static final int MOST_PROCESSES = 10_000;
    // days, and a figure of each is kept
    private static final int MOST_ROUNDS = 1_000_000;

    @Spec
    CommandSpec spec;

    @Option(names = "--processes", paramLabel = "COUNT", defaultValue = "16", description = "Processes that receive.")
    int processes;

    @Option(
            names = "--send",
            paramLabel = "HOW",
            defaultValue = "seal",
            description = {
                "seal: a descriptor over a unix socket, of bytes that no process can change.",
                "slab: 32 bytes over a unix socket, of memory that each receiver has mapped before.",
                "copy: the bytes, into memory of each receiver's own."
            })
    ShareOptions.Send send;

    @Option(
            names = "--rounds",
            paramLabel = "COUNT",
            defaultValue = "1",
            description =
                    "Times to hand it over, to the same processes; they verify the last, the figure is the median.")
    int rounds;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "300",
            description = "Seconds until the command counts as failed.")
    int timeoutSeconds;

    @Option(
            names = "--fail-process",
            paramLabel = "NUMBER",
            defaultValue = "0",
            description = "Process that dies when the file reaches it, to see what a failure looks like. 0: none.")
    int failProcess;

    @Parameters(paramLabel = "FILE", description = "File to hand over.")
    Path file;

    @Override
    public Integer call() throws Exception {
        Usage.atLeast(spec, "--processes", 1, processes);
        Usage.atMost(spec, "--processes", MOST_PROCESSES, processes);
        Usage.atLeast(spec, "--rounds", 1, rounds);
        Usage.atMost(spec, "--rounds", MOST_ROUNDS, rounds);
        Usage.atLeast(spec, "--timeout", 1, timeoutSeconds);
        if (failProcess < 0 || failProcess > processes) {
            throw Usage.error(
                    spec, "--fail-process is not a process: fail-process=" + failProcess + " processes=" + processes);
        }
        Share.Outcome outcome;
        try (Interruption _ = new Interruption(
                spec.commandLine().getErr(), "share", () -> "processes=" + processes + " file=" + file)) {
            outcome = Share.run(new ShareOptions(file, send, processes, rounds, timeoutSeconds, failProcess));
        }
        PrintWriter out = spec.commandLine().getOut();
        out.printf(
                Locale.ROOT,
                "every process has the bytes, not yet verified: send=%s rounds=%d seconds=%.6f%n",
                send.name().toLowerCase(Locale.ROOT),
                rounds,
                outcome.heldNanos() / 1e9);
        out.printf(
                Locale.ROOT,
                "share: processes=%d bytes=%d verified=%d seconds=%.6f%n",
                processes,
                outcome.bytes(),
                outcome.verified(),
                outcome.nanos() / 1e9);
        out.flush();
        return outcome.verified() == processes ? 0 : 1;
    }
}
