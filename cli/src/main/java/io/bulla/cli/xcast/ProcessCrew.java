// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.cli.security.TrialCertificates;
import io.bulla.cli.shell.Children;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.PeersFile;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// A process for each node: JVMs that run `bulla node`. Each takes a free port and says which; then all are told
/// where the others are, on their standard input, whose end is their end too.
final class ProcessCrew implements Crew {

    private static final int LOOK_MILLIS = 20;
    private static final long SLACK = 64L << 20;
    /// For new objects: the JVM takes fresh pages for them up to this size before it collects.
    private static final String YOUNG = "-Xmn1m";

    private final XcastCommand options;
    private final NodeParts parts;
    private final long bytes;
    private final TrialCertificates certificates;
    private final List<Process> processes = new ArrayList<>();
    private final List<InetSocketAddress> addresses = new ArrayList<>();
    private Children children;

    /// @param bytes of the files
    ProcessCrew(XcastCommand options, NodeParts parts, long bytes) throws IOException {
        this.options = options;
        this.parts = parts;
        this.bytes = bytes;
        LocalCrew.checkLoopback();
        this.certificates = options.protection.tls ? TrialCertificates.temporary(options.nodes()) : null;
    }

    @Override
    public InetSocketAddress rootBind() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), options.where.port);
    }

    @Override
    public Security rootSecurity() throws IOException {
        return certificates == null ? Security.plaintext() : certificates.of(0);
    }

    @Override
    public void start(InetSocketAddress root) throws IOException, InterruptedException {
        long timeout = options.run.timeoutSeconds * (options.run.repeat + 1L);
        children = new Children("bulla-xcast", (int) Math.min(timeout, Integer.MAX_VALUE), () -> {});
        addresses.add(root);
        for (int rank = 1; rank <= options.nodes(); rank++) {
            processes.add(children.start(program(), List.of("-Xmx" + memory(), YOUNG), arguments(rank)));
        }
        for (int index = 0; index < options.nodes(); index++) {
            addresses.add(listening(index));
        }
        String peers = String.join("\n", PeersFile.of(addresses).lines()) + "\n\n";
        for (int index = 0; index < options.nodes(); index++) {
            try {
                // left open: its end would be the node's
                OutputStream input = processes.get(index).getOutputStream();
                input.write(peers.getBytes(StandardCharsets.US_ASCII));
                input.flush();
            } catch (IOException broken) {
                throw children.died(index, broken);
            }
        }
        deleteCertificates();
    }

    @Override
    public InetSocketAddress addressOf(int rank) {
        return addresses.get(rank);
    }

    @Override
    public String describe() {
        return "in " + options.nodes() + " processes";
    }

    @Override
    public void close() throws IOException {
        if (children != null) {
            children.close();
        }
        deleteCertificates();
    }

    /// The `bulla` command itself, as which this process runs.
    private Class<?> program() {
        return options.spec.root().userObject().getClass();
    }

    /// Copies take one more per child.
    private long memory() {
        long messages = options.tree.send == TreeOptions.Send.COPY ? 3L + options.tree.radix : 3;
        return messages * bytes + SLACK;
    }

    private List<String> arguments(int rank) {
        List<String> arguments = new ArrayList<>(List.of(
                "node",
                "--rank=" + rank,
                "--nodes=" + options.nodes(),
                "--peers=-",
                "--bind=" + InetAddress.getLoopbackAddress().getHostAddress() + ":"
                        + (options.where.port == 0 ? 0 : options.where.port + rank),
                "--radix=" + options.tree.radix,
                "--limit=" + options.tree.limit,
                "--peer-timeout=" + options.tree.peerTimeout.toMillis() + "ms",
                "--send=" + options.tree.send.name().toLowerCase(Locale.ROOT),
                "--local=" + local(),
                "--local-folder=" + children.folder(),
                "--memory=" + options.tree.memory.name().toLowerCase(Locale.ROOT),
                certificates == null ? "--plaintext" : "--certs=" + certificates.folder()));
        if (options.tree.sign) {
            arguments.add("--sign");
        }
        if (options.tree.bulk != null) {
            arguments.add("--bulk=" + options.tree.bulk);
            arguments.add("--bulk-above=" + options.tree.bulkAbove);
        }
        if (rank == options.run.failNode) {
            arguments.add("--die");
        }
        return arguments;
    }

    private String local() {
        TreeOptions.Local local = parts.meters().local() == null ? TreeOptions.Local.BYTES : options.tree.local;
        return local.name().toLowerCase(Locale.ROOT);
    }

    private InetSocketAddress listening(int index) throws IOException, InterruptedException {
        while (true) {
            // not always the first line: a JVM may say something before, as by JAVA_TOOL_OPTIONS=-Xlog:gc
            for (String line : children.said(index)) {
                int found = line.indexOf(NodeCommand.LISTENING);
                int start = found + NodeCommand.LISTENING.length();
                int end = line.indexOf(' ', start);
                if (found >= 0 && end > start) {
                    return PeersFile.address(line.substring(start, end));
                }
            }
            children.checkAllAlive();
            Thread.sleep(LOOK_MILLIS);
        }
    }

    private void deleteCertificates() throws IOException {
        if (certificates != null) {
            certificates.close();
        }
    }
}
