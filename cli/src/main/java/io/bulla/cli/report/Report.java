// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.report;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/// Results of one broadcast.
///
/// @param nodes that received
/// @param radix of the tree
/// @param bytes of the message
/// @param sends of the message, one per edge of the tree
/// @param copies payload copies made during the sends
/// @param allocated bytes that the memory source and Netty's allocators handed out during the sends
/// @param verified nodes that checked every digest
/// @param handlesOpen handles still open when all was over
/// @param seconds from the first send to the last acknowledgement
/// @param levels of the tree, from the root's children on
/// @param host what it cost beyond one process, or `null`
public record Report(
        int nodes,
        int radix,
        long bytes,
        long sends,
        long copies,
        long allocated,
        int verified,
        long handlesOpen,
        double seconds,
        List<Level> levels,
        Host host) {

    /// What several processes have used.
    ///
    /// @param socketBytes that all have given to sockets
    /// @param memory by which all have grown, as the kernel counts it, while each had the message; negative if they
    ///     gave more back
    public record Host(long socketBytes, long memory) {}

    /// One level of the tree.
    ///
    /// @param depth 1 for the root's children
    /// @param nodes on the level
    /// @param firstMillis when its first node had verified
    /// @param lastMillis when its last node had verified
    public record Level(int depth, int nodes, double firstMillis, double lastMillis) {}

    /// What no design here can avoid: each node holds what the kernel delivered to it.
    public long floor() {
        return nodes * bytes;
    }

    public void print(PrintWriter out) {
        out.printf("%5s %6s %14s %12s %12s%n", "level", "nodes", "bytes received", "first ms", "last ms");
        for (Level level : levels) {
            out.printf(
                    Locale.ROOT,
                    "%5d %6d %14d %12.1f %12.1f%n",
                    level.depth(),
                    level.nodes(),
                    level.nodes() * bytes,
                    level.firstMillis(),
                    level.lastMillis());
        }
        out.printf(
                Locale.ROOT,
                "memory taken while sending: %d bytes, %.3f times the floor of %d (one landing per node)%n",
                allocated,
                (double) allocated / floor(),
                floor());
        if (host != null) {
            out.printf(
                    Locale.ROOT,
                    "sockets: socket-bytes=%d memory-of-all=%d messages=%.2f%n",
                    host.socketBytes(),
                    host.memory(),
                    Math.max(0.0, (double) host.memory() / bytes));
        }
        out.printf(
                Locale.ROOT,
                "xcast: nodes=%d radix=%d bytes=%d sends=%d payload-copies=%d payload-bytes-allocated=%d verified=%d"
                        + " handles-open=%d seconds=%.3f%n",
                nodes,
                radix,
                bytes,
                sends,
                copies,
                allocated,
                verified,
                handlesOpen,
                seconds);
        out.flush();
    }
}
