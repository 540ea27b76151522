// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.cli.checkpoint.NodeCheckpoints;
import io.bulla.cli.report.Progress;
import io.bulla.cli.report.Report;
import io.bulla.cli.security.SecurityOptions;
import io.bulla.cli.shell.Interruption;
import io.bulla.cli.shell.Peers;
import io.bulla.cli.shell.StandardInput;
import io.bulla.cli.shell.Usage;
import io.bulla.runtime.oob.topology.PeersFile;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `bulla xcast`: the options, checked.
@Command(
        name = "xcast",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = {
            "Packs files into one sealed buffer and broadcasts it to many nodes down a tree, over TCP.",
            "Every node hands the bytes that it received on to its children while it unpacks and verifies them.",
            "The nodes are in this process, or each in one of its own, or run already, with `bulla node`.",
            "With --pmix they are the ranks that a launcher started: mpirun -n 4 ./bulla xcast --pmix FILE."
        })
public final class XcastCommand implements Callable<Integer> {

    private static final int DEFAULT_NODES = 16;
    // what a JVM takes by itself
    private static final long PROCESS_BYTES = 96L << 20;

    @Spec
    CommandSpec spec;

    @ArgGroup(exclusive = false, validate = false, order = 10, heading = "%nWhat is sent:%n")
    final What what = new What();

    @ArgGroup(
            exclusive = false,
            validate = false,
            order = 20,
            heading = "%nWhere to: one of --nodes, --processes, --peers, --pmix%n")
    final Where where = new Where();

    @ArgGroup(exclusive = false, validate = false, order = 30, heading = "%nSecurity:%n")
    final Protection protection = new Protection();

    @ArgGroup(exclusive = false, validate = false, order = 40, heading = "%nThe tree:%n")
    final TreeOptions tree = new TreeOptions();

    @ArgGroup(exclusive = false, validate = false, order = 50, heading = "%nRun and output:%n")
    final Run run = new Run();

    /// The message.
    static final class What {

        @Option(
                names = "--env",
                paramLabel = "NAME",
                showDefaultValue = Help.Visibility.NEVER,
                description = "Send this environment variable of the sender, too; may be repeated. By default none is"
                        + " sent.")
        List<String> environment = List.of();

        /// The named variables and their values.
        ///
        /// @throws IOException if one is not set
        Map<String, String> variables() throws IOException {
            Map<String, String> named = new LinkedHashMap<>();
            for (String name : environment) {
                String value = System.getenv(name);
                if (value == null) {
                    throw new IOException("environment variable is not set: --env=" + name);
                }
                named.put(name, value);
            }
            return named;
        }
    }

    /// The receivers.
    static final class Where {

        @Option(
                names = "--nodes",
                paramLabel = "COUNT",
                description = "Receiving nodes in this process, besides the root; " + DEFAULT_NODES
                        + " by default. With --peers dns: those that run already.")
        Integer inProcess;

        @Option(
                names = "--processes",
                paramLabel = "COUNT",
                description = "Receiving nodes, each in a process of its own, on the loopback.")
        Integer processes;

        @Option(
                names = "--peers",
                paramLabel = "FILE",
                description = "Nodes that run already: a line `rank host:port` for each; this one is rank 0."
                        + " dns:PATTERN in place of a file, with --nodes: their host names and port, such as"
                        + " dns:bulla-{rank}.bulla:7000.")
        String peers;

        @Option(
                names = "--bind",
                paramLabel = "HOST:PORT",
                description = "With --peers: where to listen, if not where the peers file says, or at all addresses.")
        String bind;

        @Option(
                names = "--pmix",
                description =
                        "The ranks of a launcher's job, each started with --pmix: mpirun, prterun, srun --mpi=pmix."
                                + " The first one sends, the others receive and verify.")
        boolean pmix;

        @Option(
                names = "--port",
                paramLabel = "PORT",
                defaultValue = "0",
                description = "Port of the root; node n listens on the n-th port after it. 0: free ports.")
        int port = 0;
    }

    /// How connections are protected.
    static final class Protection {

        @Option(
                names = "--tls",
                description = "With --nodes or --processes: mutual TLS, by certificates made for this run. Without it,"
                        + " plaintext on the loopback.")
        boolean tls;

        @ArgGroup(exclusive = false, validate = false)
        final SecurityOptions peers = new SecurityOptions();
    }

    /// How often, how long, what is shown.
    static final class Run {

        @Option(
                names = "--repeat",
                paramLabel = "COUNT",
                defaultValue = "1",
                description = "Broadcasts, one after the other.")
        int repeat = 1;

        @Option(
                names = "--timeout",
                paramLabel = "SECONDS",
                defaultValue = "300",
                description = "Seconds until a broadcast counts as failed.")
        int timeoutSeconds = 300;

        @Option(
                names = "--fail-node",
                paramLabel = "RANK",
                defaultValue = "0",
                description = "Node that dies when the message reaches it, to see what a failure looks like. 0: none.")
        int failNode = 0;

        @Option(
                names = "--verbose",
                description = "With --pmix: every rank says what it does, not the first one alone.")
        boolean verbose;
    }

    @Parameters(
            paramLabel = "FILE",
            arity = "1..*",
            description = "Files to send, each less than 2 GiB; - is standard input.")
    List<Path> files;

    private Peers peers;
    private PmixJob job;

    @Override
    public Integer call() throws Exception {
        check();
        if (where.pmix) {
            return callInJob();
        }
        return send();
    }

    /// The first rank sends, the others receive.
    private int callInJob() throws Exception {
        try (PmixJob joined = PmixJob.join(spec, protection.peers)) {
            joined.checkNotAlone();
            if (joined.rank() == 0) {
                job = joined;
                return send();
            }
            PrintWriter out = spec.commandLine().getOut();
            try (Meters meters = tree.meters()) {
                new PmixReceiver(joined, meters, tree, NodeCheckpoints.none(), line -> {
                            if (run.verbose) {
                                out.println("node: rank=" + joined.rank() + " " + line);
                            }
                        })
                        .run();
            }
            return 0;
        }
    }

    private int send() throws Exception {
        try (StandardInput input = StandardInput.among(files, tree.limit)) {
            files = input.files();
            return sendFiles();
        }
    }

    private int sendFiles() throws Exception {
        LaunchMessage.payloadBytes(tree.limit, files);
        what.variables();
        PrintWriter out = spec.commandLine().getOut();
        try (Xcast xcast = new Xcast(this);
                Interruption _ = new Interruption(
                        spec.commandLine().getErr(), "xcast", () -> "nodes=" + nodes() + " " + xcast.progress())) {
            xcast.start();
            out.println(xcast.describe());
            for (int i = 0; i < run.repeat; i++) {
                Report report = xcast.broadcast(Progress.onTerminal(nodes()));
                report.print(out);
            }
            if (tree.bulk != null) {
                out.println(xcast.bulk());
            }
        }
        return 0;
    }

    /// Nodes besides the root.
    int nodes() {
        if (job != null) {
            return job.size() - 1;
        }
        if (peers != null) {
            return peers.size() - 1;
        }
        return where.processes != null ? where.processes : where.inProcess != null ? where.inProcess : DEFAULT_NODES;
    }

    /// The request of the options.
    Crew crew(NodeParts parts, EventLoopGroup loops) throws IOException {
        if (job != null) {
            return new PmixCrew(job, parts.meters(), tree.peerTimeout);
        }
        if (peers != null) {
            InetSocketAddress bind = where.bind == null ? peers.listening(0) : PeersFile.address(where.bind);
            return new RemoteCrew(peers, bind, protection.peers.of(spec, 0));
        }
        if (where.processes == null) {
            return new LocalCrew(this, parts, loops);
        }
        long bytes = LaunchMessage.payloadBytes(tree.limit, files);
        checkMemory(bytes);
        return new ProcessCrew(this, parts, bytes);
    }

    private void check() throws IOException {
        boolean inProcess = where.inProcess != null && (where.peers == null || !Peers.areNames(where.peers));
        if (Stream.of(inProcess, where.processes != null, where.peers != null, where.pmix)
                        .filter(yes -> yes)
                        .count()
                > 1) {
            throw Usage.error(spec, "only one can be: --nodes, --processes, --peers or --pmix");
        }
        if (where.bind != null && where.peers == null) {
            throw Usage.error(spec, "--bind is with --peers");
        }
        if (where.pmix) {
            checkStartedElsewhere("--pmix");
        } else if (where.peers != null) {
            checkRemote();
        } else {
            if (protection.peers.isGiven()) {
                throw Usage.error(
                        spec,
                        "--certs, --secret and --plaintext are for --peers; with --nodes and --processes there is --tls");
            }
            Usage.atLeast(spec, where.processes != null ? "--processes" : "--nodes", 1, nodes());
        }
        tree.check(spec, protection.tls || protection.peers.isByCertificates());
        if (where.processes != null || where.peers != null) {
            tree.lendByDefault();
        }
        if (where.processes != null
                && tree.local == TreeOptions.Local.SLAB
                && !spec.commandLine().getParseResult().hasMatchedOption("--radix")) {
            // what is lent cannot be lent on, so the one who has it lends it to all
            tree.radix = nodes();
        }
        Usage.atLeast(spec, "--repeat", 1, run.repeat);
        Usage.atLeast(spec, "--timeout", 1, run.timeoutSeconds);
        boolean startsThem = where.peers == null && !where.pmix;
        if (where.port < 0 || startsThem && (long) where.port + nodes() > 65535) {
            throw Usage.error(
                    spec, "--port does not leave a port for every node: port=" + where.port + " nodes=" + nodes());
        }
        if (run.failNode < 0 || run.failNode > nodes()) {
            throw Usage.error(spec, "--fail-node is not a node: fail-node=" + run.failNode + " nodes=" + nodes());
        }
    }

    private void checkStartedElsewhere(String option) {
        if (protection.tls || where.port != 0 || run.failNode != 0) {
            throw Usage.error(
                    spec, "--tls, --port and --fail-node are for nodes that this command starts: not with " + option);
        }
    }

    private void checkRemote() throws IOException {
        checkStartedElsewhere("--peers");
        protection.peers.of(spec, 0);
        peers = Peers.of(spec, where.peers, where.inProcess);
        if (peers.size() < 2) {
            throw new IOException("no node besides the root in the peers file: file=" + where.peers);
        }
    }

    private void checkMemory(long bytes) throws IOException {
        long needed = Math.multiplyExact(bytes + PROCESS_BYTES, (long) where.processes);
        if (ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean machine
                && needed > machine.getTotalMemorySize()) {
            throw new IOException("not enough memory, every process holds what it receives: needed=" + needed
                    + " machine=" + machine.getTotalMemorySize() + " processes=" + where.processes + " bytes=" + bytes);
        }
    }
}
