// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.shell;

import io.bulla.runtime.oob.topology.DnsDirectory;
import io.bulla.runtime.oob.topology.PeerDirectory;
import io.bulla.runtime.oob.topology.PeersFile;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.CommandSpec;

/// Where the nodes of a job are, as `--peers` says: a file of all addresses, or the pattern of their host names.
public sealed interface Peers {

    int MOST_NODES = 1 << 20;

    /// Nodes, the root too.
    int size();

    /// For a node's builder.
    PeerDirectory directory();

    /// A node's address, for messages; that of a name is not resolved.
    InetSocketAddress addressOf(int rank);

    /// Where a node listens, unless `--bind` says so.
    InetSocketAddress listening(int rank);

    /// For the first line.
    String describe();

    /// Whether what is given is a pattern of names.
    static boolean areNames(String given) {
        return given.startsWith(OfNames.SCHEME);
    }

    /// @param given as of `--peers`
    /// @param nodes besides the root, for names, or `null`
    /// @throws IOException if the file cannot be read
    static Peers of(CommandSpec command, String given, Integer nodes) throws IOException {
        if (areNames(given)) {
            return OfNames.checked(command, given, nodes);
        }
        if (given.contains("{rank}")) {
            throw Usage.error(command, "a pattern of names is --peers " + OfNames.SCHEME + "PATTERN: given=" + given);
        }
        return new OfFile(PeersFile.read(Path.of(given)));
    }

    /// The rank at the end of a host's name, as a StatefulSet of Kubernetes gives them: `bulla-3`.
    ///
    /// @param host may be `null`
    static int rankOf(CommandSpec command, String host) {
        Matcher ordinal = OfNames.HOST.matcher(host == null ? "" : host);
        if (!ordinal.matches()) {
            throw Usage.error(
                    command,
                    "--rank is not given, and no host name as bulla-3 has one: HOSTNAME=" + (host == null ? "" : host));
        }
        return Integer.parseInt(ordinal.group(1));
    }

    /// Those of a peers file.
    record OfFile(PeersFile directory) implements Peers {

        @Override
        public int size() {
            return directory.size();
        }

        @Override
        public InetSocketAddress addressOf(int rank) {
            return directory.addressOf(rank);
        }

        @Override
        public InetSocketAddress listening(int rank) {
            return directory.addressOf(rank);
        }

        @Override
        public String describe() {
            return "of the peers file";
        }
    }

    /// Those of names that differ in the rank.
    record OfNames(DnsDirectory directory, int size) implements Peers {

        private static final String SCHEME = "dns:";
        // a name of several labels, if the host name is the whole one
        private static final Pattern HOST = Pattern.compile("[^.]*-(\\d{1,9})(\\..*)?");

        private static OfNames checked(CommandSpec command, String given, Integer nodes) {
            DnsDirectory directory;
            try {
                directory = DnsDirectory.of(given.substring(SCHEME.length()));
            } catch (IllegalArgumentException wrong) {
                throw Usage.error(command, "--peers " + SCHEME + " " + wrong.getMessage());
            }
            if (nodes == null) {
                throw Usage.error(command, "--peers " + SCHEME + " needs --nodes: how many there are besides the root");
            }
            Usage.atLeast(command, "--nodes", 1, nodes);
            if (nodes >= MOST_NODES) {
                throw Usage.error(command, "--nodes must be less than " + MOST_NODES + ": given=" + nodes);
            }
            return new OfNames(directory, nodes + 1);
        }

        @Override
        public InetSocketAddress addressOf(int rank) {
            return InetSocketAddress.createUnresolved(directory.nameOf(rank), directory.port());
        }

        /// All addresses of this host: its own name may not be known yet.
        @Override
        public InetSocketAddress listening(int rank) {
            return new InetSocketAddress(directory.port());
        }

        @Override
        public String describe() {
            return "named " + directory;
        }
    }
}
