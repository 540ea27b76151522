// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.cli.checkpoint.CheckpointFlags;
import io.bulla.cli.checkpoint.NodeCheckpoints;
import io.bulla.cli.security.SecurityOptions;
import io.bulla.cli.shell.Peers;
import io.bulla.cli.shell.Termination;
import io.bulla.cli.shell.Usage;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.PeerDirectory;
import io.bulla.runtime.oob.topology.PeersFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `bulla node`: the options, checked, and a node that lives until the process is told to end.
@Command(
        name = "node",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = {
            "Runs one node, which verifies what `bulla xcast --peers` broadcasts, and hands it on to its children.",
            "It runs until it is told to end: by Ctrl-C, or by SIGTERM, after which it sends what is queued, says goodbye"
                    + " and ends with status 0.",
            "With --checkpoint it takes part in checkpoints of the job, from which its nodes go on with --restore;"
                    + " with --checkpoint-on-exit it leaves with one.",
            "With --pmix it is a rank of a launcher's job, which says all the rest: mpirun -n 4 ./bulla node --pmix."
        })
public final class NodeCommand implements Callable<Integer> {

    /// In the first line that is printed; the address is behind it.
    static final String LISTENING = "listening=";

    private static final String STANDARD_INPUT = "-";
    private static final int DIED = 3;

    @Spec
    CommandSpec spec;

    @Option(
            names = "--rank",
            paramLabel = "RANK",
            description = "This node's rank, 1 on; 0 is `bulla xcast`, or a node of a job that takes checkpoints."
                    + " With --peers dns: it may be left to the host name: bulla-3 is rank 3.")
    Integer givenRank;

    private int rank;

    @Option(
            names = "--peers",
            paramLabel = "FILE",
            description = "Where all nodes are: a line `rank host:port` for each. -: the lines come on standard input,"
                    + " up to an empty one, and the input's end ends the node. dns:PATTERN: their host names and port,"
                    + " such as dns:bulla-{rank}.bulla:7000.")
    String givenPeers;

    @Option(
            names = "--nodes",
            paramLabel = "COUNT",
            description = "With --peers - and --peers dns: nodes besides the root.")
    Integer nodes;

    @Option(
            names = "--bind",
            paramLabel = "HOST:PORT",
            description = "Where to listen, if not where the peers file says, or, with names, at all addresses;"
                    + " port 0 is a free one.")
    String bind;

    @Option(
            names = "--pmix",
            description = "A rank of a launcher's job, and where the others are: in place of --rank and --peers."
                    + " Without a security, the ranks share a secret that the first one makes.")
    boolean pmix;

    @Option(
            names = "--grace",
            paramLabel = "TIME",
            defaultValue = "1s",
            converter = Usage.Time.class,
            description =
                    "How long it may take to leave when the node is told to end: to send what is queued, and before"
                            + " that, with --checkpoint-on-exit, half of it for the checkpoint. The rest is given up.")
    Duration grace;

    @Option(
            names = "--ready",
            paramLabel = "FILE",
            description = "A file that is there while the node is: made once it listens, deleted before it leaves.")
    Path ready;

    @Option(names = "--verbose", description = "With --pmix: every rank says what it does, not the first one alone.")
    boolean verbose;

    @ArgGroup(exclusive = false, validate = false, order = 30, heading = "%nSecurity: exactly one%n")
    final SecurityOptions security = new SecurityOptions();

    @ArgGroup(exclusive = false, validate = false, order = 40, heading = "%nThe tree: the same as the root's%n")
    final TreeOptions tree = new TreeOptions();

    @ArgGroup(exclusive = false, validate = false, order = 50, heading = "%nCheckpoints%n")
    final CheckpointFlags checkpoint = new CheckpointFlags();

    @Option(names = "--die", hidden = true, description = "Die when a message is there.")
    boolean die;

    // volatile: read by the event loop, which is not asked before there is something to send
    private volatile PeerDirectory peers = peer -> null;

    @Override
    public Integer call() throws Exception {
        tree.check(spec, security.isByCertificates());
        checkpoint.check(spec);
        if (pmix) {
            return callInJob();
        }
        tree.lendByDefault();
        if (givenPeers == null || givenRank == null && !Peers.areNames(givenPeers)) {
            throw Usage.error(spec, "a node needs --rank and --peers, or --pmix under a launcher");
        }
        rank = givenRank != null ? givenRank : Peers.rankOf(spec, System.getenv("HOSTNAME"));
        Usage.atLeast(spec, "--rank", checkpoint.areGiven() ? 0 : 1, rank);
        Security protection = security.of(spec, rank);
        boolean fromInput = givenPeers.equals(STANDARD_INPUT);
        Peers known = fromInput ? null : Peers.of(spec, givenPeers, nodes);
        int size = known != null ? known.size() : checkedNodes() + 1;
        if (rank >= size) {
            throw Usage.error(spec, "--rank is not a node: rank=" + rank + " nodes=" + (size - 1));
        }
        InetSocketAddress address = address(known);
        notReady();
        try (Meters meters = tree.meters();
                NodeCheckpoints checkpoints = checkpoints(meters, rank, size, this::say)) {
            if (fromInput) {
                // what it takes to start is over when the one that started it measures
                Recipient.practise(meters);
            }
            NodeParts parts = tree.parts(meters, tree.send.policy(meters));
            OobNodeBuilder builder = parts.node(rank, size, protection)
                    .bind(address)
                    .directory(known != null ? known.directory() : peer -> peers.addressOf(peer))
                    .onPeerLost((peer, cause) -> say(cause.getMessage()));
            Recipient recipient =
                    Recipient.start(checkpoints.into(builder), meters, die ? NodeCommand::dies : null, this::saw);
            run(recipient, checkpoints, meters, protection);
        }
        return 0;
    }

    private NodeCheckpoints checkpoints(Meters meters, int of, int size, Consumer<String> told) throws IOException {
        return NodeCheckpoints.open(checkpoint, of, size, meters.source(), tree.limit, told);
    }

    private int callInJob() throws Exception {
        if (givenRank != null || givenPeers != null || nodes != null || bind != null) {
            throw Usage.error(
                    spec, "the launcher says where nodes are: not with --pmix: --rank, --peers, --nodes, --bind");
        }
        if (checkpoint.areOnExit()) {
            throw Usage.error(spec, "the launcher ends all ranks at once: not with --pmix: --checkpoint-on-exit");
        }
        if (ready != null) {
            throw Usage.error(spec, "the launcher knows when a rank is there: not with --pmix: --ready");
        }
        try (PmixJob job = PmixJob.join(spec, security);
                Meters meters = tree.meters()) {
            rank = job.rank();
            try (NodeCheckpoints checkpoints = checkpoints(meters, rank, job.size(), this::sayInJob)) {
                new PmixReceiver(job, meters, tree, checkpoints, this::sayInJob).run();
            }
        }
        return 0;
    }

    private void sayInJob(String line) {
        if (verbose || rank == 0) {
            say(line);
        }
    }

    private void run(Recipient recipient, NodeCheckpoints checkpoints, Meters meters, Security protection)
            throws IOException, InterruptedException {
        OobNode node = recipient.node();
        Thread hook = new Thread(() -> end(node, checkpoints, meters), "bulla-node-end");
        Runtime.getRuntime().addShutdownHook(hook);
        StatsLines lines = tree.stats == null ? null : new StatsLines(tree.stats, node, meters, out());
        // one whose input ends it goes on reading
        boolean fromInput = givenPeers.equals(STANDARD_INPUT);
        // when it was told to end; whatever comes before leaves all of the time
        long told = 0;
        try (Termination termination = fromInput ? null : Termination.watch()) {
            say(LISTENING + node.address().getAddress().getHostAddress() + ":"
                    + node.address().getPort() + " security=" + protection.name());
            checkpoints.begin(node);
            sayReady();
            if (termination == null) {
                followInput(node.rank());
            } else {
                termination.await();
                endAtOnceFromNowOn(hook);
            }
            told = System.nanoTime();
            tellNotReady();
            checkpoints.leave(grace.dividedBy(2));
        } finally {
            if (lines != null) {
                lines.close();
            }
            leave(node, checkpoints, told == 0 ? grace : left(told));
            recipient.close();
        }
    }

    private Duration left(long told) {
        Duration left = grace.minusNanos(System.nanoTime() - told);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /// What the hook does is done by this thread now. It would wait for that, and a second signal with it.
    private static void endAtOnceFromNowOn(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ending) {
            // by another signal, a moment ago
        }
    }

    /// Again is harmless.
    private void leave(OobNode node, NodeCheckpoints checkpoints, Duration drain) {
        tellNotReady();
        checkpoints.close();
        node.close(drain);
    }

    private void tellNotReady() {
        try {
            notReady();
        } catch (IOException failure) {
            say("--ready stays: " + failure);
        }
    }

    private void sayReady() throws IOException {
        try {
            if (ready != null) {
                Files.write(ready, new byte[0]);
            }
        } catch (IOException failure) {
            throw new IOException(
                    "cannot make the file of --ready: file=" + ready + " reason="
                            + failure.getClass().getSimpleName(),
                    failure);
        }
    }

    /// A process that was killed may have left its file, which is empty: nothing else is deleted.
    private void notReady() throws IOException {
        if (ready == null || Files.notExists(ready)) {
            return;
        }
        if (!Files.isRegularFile(ready) || Files.size(ready) > 0) {
            throw new IOException("not an empty file, so it is not one of --ready: file=" + ready);
        }
        Files.deleteIfExists(ready);
    }

    private void end(OobNode node, NodeCheckpoints checkpoints, Meters meters) {
        leave(node, checkpoints, grace);
        if (meters.local() != null) {
            // its socket would stay, and be removed by the next process only
            meters.local().memory().close();
        }
    }

    /// Reads where the peers are, and waits for the input's end.
    private void followInput(int self) throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        List<String> lines = new ArrayList<>();
        String line = input.readLine();
        while (line != null && !line.isBlank()) {
            lines.add(line);
            line = input.readLine();
        }
        if (line == null && lines.isEmpty()) {
            return;
        }
        PeersFile read = PeersFile.parse("-", lines);
        if (read.size() != nodes + 1) {
            throw new IOException(
                    "peers are not as many as said: rank=" + self + " nodes=" + nodes + " peers=" + (read.size() - 1));
        }
        peers = read;
        while (line != null) {
            line = input.readLine();
        }
    }

    private int checkedNodes() {
        if (nodes == null) {
            throw Usage.error(spec, "--peers - needs --nodes: how many there are besides the root");
        }
        Usage.atLeast(spec, "--nodes", 1, nodes);
        return nodes;
    }

    private InetSocketAddress address(Peers known) throws IOException {
        if (bind != null) {
            return PeersFile.address(bind);
        }
        if (known == null) {
            throw Usage.error(spec, "--peers - needs --bind HOST:PORT");
        }
        return known.listening(rank);
    }

    private void saw(Message message, String trouble) {
        say("origin=" + message.origin() + " bytes=" + message.buffer().byteSize() + " "
                + (trouble == null ? "verified" : "not as sent: " + trouble));
    }

    private static void dies(OobNode node) {
        System.err.println("node " + node.rank() + " dies, as it was told");
        Runtime.getRuntime().halt(DIED);
    }

    private void say(String line) {
        out().printf("node: rank=%d %s%n", rank, line);
        out().flush();
    }

    private PrintWriter out() {
        return spec.commandLine().getOut();
    }
}
