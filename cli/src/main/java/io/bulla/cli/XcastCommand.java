// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import io.bulla.runtime.oob.PeersFile;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
            "The nodes are in this process, or each in one of its own, or those of a peers file, with `bulla node`."
        })
final class XcastCommand implements Callable<Integer> {

    private static final int DEFAULT_NODES = 16;
    // what a JVM takes by itself
    private static final long PROCESS_BYTES = 96L << 20;

    @Spec
    CommandSpec spec;

    @Option(
            names = "--nodes",
            paramLabel = "N",
            description = "Nodes in this process that receive, besides the root. " + DEFAULT_NODES + " unless said.")
    Integer inProcess;

    @Option(
            names = "--processes",
            paramLabel = "N",
            description = "The same, each in a process of its own, on the loopback.")
    Integer processes;

    @Option(
            names = "--peers",
            paramLabel = "FILE",
            description = "Nodes that run already: a line `rank host:port` for each; this one is rank 0.")
    Path peersFile;

    @Option(
            names = "--tls",
            description = "With --nodes or --processes: mutual TLS, by certificates made for the occasion. Without,"
                    + " plaintext on the loopback.")
    boolean tls;

    @Mixin
    SecurityOptions security;

    @Mixin
    TreeOptions tree;

    @Option(names = "--repeat", defaultValue = "1", description = "Broadcasts, one after the other.")
    int repeat;

    @Option(
            names = "--port",
            defaultValue = "0",
            description = "Port of the root; node n listens on the n-th port after it. 0: free ports.")
    int port;

    @Option(names = "--timeout", defaultValue = "300", description = "Seconds until a broadcast counts as failed.")
    int timeoutSeconds;

    @Option(
            names = "--fail-node",
            defaultValue = "0",
            description = "Node that dies when the message reaches it, to see what a failure looks like. 0: none.")
    int failNode;

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "Files to send, each less than 2 GiB.")
    List<Path> files;

    private PeersFile peers;

    @Override
    public Integer call() throws Exception {
        check();
        LaunchMessage.payloadBytes(tree.limit, files);
        PrintWriter out = spec.commandLine().getOut();
        try (Xcast xcast = new Xcast(this)) {
            xcast.start();
            out.println(xcast.describe());
            for (int i = 0; i < repeat; i++) {
                Report report = xcast.broadcast(Progress.onTerminal(nodes()));
                report.print(out);
            }
        }
        return 0;
    }

    /// Nodes besides the root.
    int nodes() {
        if (peers != null) {
            return peers.size() - 1;
        }
        return processes != null ? processes : inProcess != null ? inProcess : DEFAULT_NODES;
    }

    /// What the options ask for.
    Crew crew(NodeParts parts, EventLoopGroup loops) throws IOException {
        if (peers != null) {
            return new RemoteCrew(peers, security.of(spec, 0));
        }
        if (processes == null) {
            return new LocalCrew(this, parts, loops);
        }
        long bytes = LaunchMessage.payloadBytes(tree.limit, files);
        checkMemory(bytes);
        return new ProcessCrew(this, bytes);
    }

    private void check() throws IOException {
        if (Stream.of(inProcess != null, processes != null, peersFile != null)
                        .filter(yes -> yes)
                        .count()
                > 1) {
            throw Usage.error(spec, "only one can be: --nodes, --processes or --peers");
        }
        if (peersFile != null) {
            checkRemote();
        } else {
            if (security.isGiven()) {
                throw Usage.error(
                        spec,
                        "--certs, --secret and --plaintext are for --peers; with --nodes and --processes there is --tls");
            }
            Usage.atLeast(spec, processes != null ? "--processes" : "--nodes", 1, nodes());
        }
        tree.check(spec);
        Usage.atLeast(spec, "--repeat", 1, repeat);
        Usage.atLeast(spec, "--timeout", 1, timeoutSeconds);
        if (port < 0 || port + nodes() > 65535) {
            throw Usage.error(spec, "--port does not leave a port for every node: port=" + port + " nodes=" + nodes());
        }
        if (failNode < 0 || failNode > nodes()) {
            throw Usage.error(spec, "--fail-node is not a node: fail-node=" + failNode + " nodes=" + nodes());
        }
    }

    private void checkRemote() throws IOException {
        if (tls || port != 0 || failNode != 0) {
            throw Usage.error(
                    spec, "--tls, --port and --fail-node are for nodes that this command starts: not with --peers");
        }
        security.of(spec, 0);
        peers = PeersFile.read(peersFile);
        if (peers.size() < 2) {
            throw new IOException("no node besides the root in the peers file: file=" + peersFile);
        }
    }

    private void checkMemory(long bytes) throws IOException {
        long needed = Math.multiplyExact(bytes + PROCESS_BYTES, (long) processes);
        if (ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean machine
                && needed > machine.getTotalMemorySize()) {
            throw new IOException("not enough memory, every process holds what it receives: needed=" + needed
                    + " machine=" + machine.getTotalMemorySize() + " processes=" + processes + " bytes=" + bytes);
        }
    }
}
