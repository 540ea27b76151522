// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.cli.shell.Usage;
import io.bulla.runtime.oob.SendPolicy;
import io.bulla.runtime.oob.topology.Radix;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/// Options that the root and the nodes of a tree share, with the same values.
final class TreeOptions {

    enum Send {
        SHARED,
        COPY;

        SendPolicy policy(Meters meters) {
            return this == SHARED ? SendPolicy.SHARED : SendPolicy.copying(meters.source());
        }
    }

    enum Local {
        BYTES,
        SEAL,
        SLAB;

        /// Whether nodes of one host map each other's memory.
        boolean maps() {
            return this != BYTES;
        }
    }

    enum Memory {
        ARENA,
        POOL
    }

    @Option(
            names = "--radix",
            paramLabel = "COUNT",
            defaultValue = "4",
            description = "Children of a node in the tree, the same everywhere; 1 is a chain.")
    int radix = 4;

    @Option(
            names = "--send",
            paramLabel = "HOW",
            defaultValue = "shared",
            description = "shared: all sends share one buffer. copy: a fresh copy per child, the old way.")
    Send send = Send.SHARED;

    @Option(
            names = "--memory",
            paramLabel = "WHICH",
            defaultValue = "arena",
            description = "arena: memory that is used once. pool: slabs that are used again.")
    Memory memory = Memory.ARENA;

    @Option(
            names = "--local",
            paramLabel = "HOW",
            description = {
                "What nodes of one host send each other. bytes: all of the message, over a socket.",
                "seal: a descriptor of the message's own memory file, which no process can write to any more.",
                "slab: where it is in memory that both have mapped; bytes where that cannot be.",
                "By default slab for --processes, --peers and `bulla node`, if the system can, and bytes for others."
            })
    Local local;

    @Option(
            names = "--bulk",
            paramLabel = "PROVIDER",
            description =
                    "Provider of libfabric, such as tcp;ofi_rxm, by which messages go from a node's memory into"
                            + " its children's; see `bulla fabric`. With --memory pool, and without --tls, --certs and --secret.")
    String bulk;

    @Option(
            names = "--bulk-above",
            paramLabel = "BYTES",
            defaultValue = "1048576",
            description = "With --bulk: for messages of at least so many bytes.")
    long bulkAbove = 1 << 20;

    @Option(
            names = "--limit",
            paramLabel = "BYTES",
            defaultValue = "4294967296",
            description = "Largest message in bytes.")
    long limit = 1L << 32;

    @Option(
            names = "--peer-timeout",
            paramLabel = "TIME",
            defaultValue = "10s",
            converter = Usage.Time.class,
            description = "Time after which a node that cannot be reached has failed: 5s, 500ms.")
    Duration peerTimeout = Duration.ofSeconds(10);

    @Option(names = "--local-folder", hidden = true, description = "Where the sockets for it are.")
    Path localFolder;

    private boolean localIsAskedFor = true;

    @Option(
            names = "--sign",
            description = "Every broadcast is signed by its origin with its certificate's key, and none is taken that"
                    + " is not: nodes on its way cannot change it. With --certs or --tls.")
    boolean sign;

    @Option(names = "--stats", paramLabel = "TIME", converter = Usage.Time.class, description = StatsLines.OPTION)
    Duration stats;

    /// @param certified whether nodes have certificates
    void check(CommandSpec command, boolean certified) {
        if (sign && !certified) {
            throw Usage.error(
                    command, "--sign is with certificates: --certs DIR, or --tls for nodes that xcast starts");
        }
        Usage.atLeast(command, "--radix", 1, radix);
        Usage.atLeast(command, "--limit", 1, limit);
        Usage.atLeast(command, "--bulk-above", 1, bulkAbove);
        if (bulk != null && memory != Memory.POOL) {
            throw Usage.error(command, "--bulk needs slabs to land in: --memory pool");
        }
        if (bulk != null && local != null && local.maps()) {
            throw Usage.error(
                    command,
                    "--bulk and --local " + local.name().toLowerCase(Locale.ROOT)
                            + " are two ways for the same messages: one of them");
        }
    }

    /// @throws IOException if slabs, or the provider of --bulk, were asked for and cannot be had
    Meters meters() throws IOException {
        return new Meters(stats != null, this);
    }

    /// For nodes that may be processes of one host, if it was not said otherwise.
    void lendByDefault() {
        localIsAskedFor = local != null;
        if (local == null) {
            local = bulk == null ? Local.SLAB : Local.BYTES;
        }
    }

    /// Whether it is an error if slabs cannot be lent.
    boolean localIsAskedFor() {
        return localIsAskedFor;
    }

    NodeParts parts(Meters meters, SendPolicy policy) {
        return new NodeParts(meters, new Radix(radix), limit, policy, peerTimeout, sign, bulkAbove);
    }
}
