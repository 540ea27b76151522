// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
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
            "Packs files into one sealed buffer and broadcasts it to many nodes down a tree, over TCP on the loopback.",
            "Every node hands the bytes that it received on to its children while it unpacks and verifies them."
        })
final class XcastCommand implements Callable<Integer> {

    enum Send {
        SHARED,
        COPY
    }

    @Spec
    CommandSpec spec;

    @Option(names = "--nodes", defaultValue = "16", description = "Nodes that receive, besides the root.")
    int nodes;

    @Option(names = "--radix", defaultValue = "4", description = "Children of a node in the tree; 1 is a chain.")
    int radix;

    @Option(
            names = "--send",
            defaultValue = "shared",
            description = "shared: all sends share one buffer. copy: a fresh copy per child, the old way.")
    Send send;

    @Option(names = "--repeat", defaultValue = "1", description = "Broadcasts, one after the other.")
    int repeat;

    @Option(names = "--limit", defaultValue = "4294967296", description = "Largest message in bytes.")
    long limit;

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

    @Override
    public Integer call() throws Exception {
        Usage.atLeast(spec, "--nodes", 1, nodes);
        Usage.atLeast(spec, "--radix", 1, radix);
        Usage.atLeast(spec, "--repeat", 1, repeat);
        Usage.atLeast(spec, "--limit", 1, limit);
        Usage.atLeast(spec, "--timeout", 1, timeoutSeconds);
        if (port < 0 || port + nodes > 65535) {
            throw Usage.error(spec, "--port does not leave a port for every node: port=" + port + " nodes=" + nodes);
        }
        if (failNode < 0 || failNode > nodes) {
            throw Usage.error(spec, "--fail-node is not a node: fail-node=" + failNode + " nodes=" + nodes);
        }
        PrintWriter out = spec.commandLine().getOut();
        try (Xcast xcast = new Xcast(this)) {
            xcast.start();
            for (int i = 0; i < repeat; i++) {
                Report report = xcast.broadcast(Progress.onTerminal(nodes));
                report.print(out);
            }
        }
        return 0;
    }
}
