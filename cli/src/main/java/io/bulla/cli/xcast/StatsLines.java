// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.posix.lending.SlabLenderFigures;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.PeerStats;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/// Prints a node's backlog, again and again until it is closed: in all, the peers with the longest queues, and the
/// holders of memory.
///
/// ```
/// stats: rank=0 peers=4 queued=4 queued-bytes=16777216 oldest=0.120s waiting-bytes=0 handles=5 memory=20971520
///   peer      state   queued queued-bytes   oldest         sent     received resends failures
///      1  CONNECTED        1      4194304   0.120s            7            8       0        0
///   holds to peer 1: handles=1 size=4194304 oldest=120ms; ...
/// ```
final class StatsLines implements AutoCloseable {

    static final String OPTION =
            "Print each time what is queued, for whom, since when, and who holds memory: 1s, 500ms.";

    private static final int MOST_PEERS = 10;

    private final OobNode node;
    private final Meters meters;
    private final PrintWriter out;
    private final Thread thread;

    StatsLines(Duration period, OobNode node, Meters meters, PrintWriter out) {
        this.node = node;
        this.meters = meters;
        this.out = out;
        this.thread = Thread.ofVirtual().name("bulla-stats").start(() -> run(period));
    }

    @Override
    public void close() {
        thread.interrupt();
    }

    private void run(Duration period) {
        try {
            while (true) {
                Thread.sleep(period);
                print();
            }
        } catch (InterruptedException over) {
            // as it should be
        }
    }

    private void print() {
        List<PeerStats> peers =
                node.stats().stream().filter(peer -> peer.peer() != node.rank()).toList();
        // one write, so that lines of others do not come between
        StringBuilder lines = new StringBuilder(String.format(
                Locale.ROOT,
                "stats: rank=%d peers=%d queued=%d queued-bytes=%d oldest=%.3fs waiting-bytes=%d handles=%d memory=%d%n",
                node.rank(),
                peers.size(),
                peers.stream().mapToLong(PeerStats::queuedMessages).sum(),
                peers.stream().mapToLong(PeerStats::queuedBytes).sum(),
                peers.stream().mapToDouble(StatsLines::oldest).max().orElse(0),
                peers.stream().mapToLong(PeerStats::waitingBytes).sum(),
                meters.handlesOpen(),
                meters.budget().used()));
        lines.append(String.format(
                "  %4s %10s %8s %12s %8s %12s %12s %7s %8s%n",
                "peer", "state", "queued", "queued-bytes", "oldest", "sent", "received", "resends", "failures"));
        peers.stream()
                .sorted(Comparator.comparingLong(PeerStats::queuedBytes)
                        .reversed()
                        .thenComparingInt(PeerStats::peer))
                .limit(MOST_PEERS)
                .forEach(peer -> lines.append(String.format(
                        Locale.ROOT,
                        "  %4d %10s %8d %12d %7.3fs %12d %12d %7d %8d%n",
                        peer.peer(),
                        peer.state(),
                        peer.queuedMessages(),
                        peer.queuedBytes(),
                        oldest(peer),
                        peer.sentMessages(),
                        peer.receivedMessages(),
                        peer.resends(),
                        peer.failures())));
        if (peers.size() > MOST_PEERS) {
            lines.append("  and ")
                    .append(peers.size() - MOST_PEERS)
                    .append(" more")
                    .append(System.lineSeparator());
        }
        LocalSlabs local = meters.local();
        if (local != null) {
            lines.append(lent(local, peers));
        }
        String holders = meters.holders().replace("null: ", "others: ");
        if (!holders.isEmpty()) {
            lines.append("  holds ").append(holders).append(System.lineSeparator());
        }
        out.print(lines);
        out.flush();
    }

    /// What peers of this host have of this process's slabs; quarantined is what former connections have.
    private static String lent(LocalSlabs local, List<PeerStats> peers) {
        SlabLenderFigures lent = local.figures();
        StringBuilder line = new StringBuilder(String.format(
                "  lends slabs=%d booked=%d leases=%d bytes=%d quarantined=%d",
                local.source().figures().slabs(),
                local.source().figures().bookedBytes(),
                lent.leases(),
                lent.bytes(),
                lent.quarantined()));
        peers.stream()
                .filter(peer -> peer.leases() > 0)
                .sorted(Comparator.comparingLong(PeerStats::leasedBytes).reversed())
                .limit(MOST_PEERS)
                .forEach(peer -> line.append(String.format(
                        "; to peer %d: leases=%d bytes=%d", peer.peer(), peer.leases(), peer.leasedBytes())));
        return line.append(System.lineSeparator()).toString();
    }

    private static double oldest(PeerStats peer) {
        return peer.oldest().map(age -> age.toNanos() / 1e9).orElse(0.0);
    }
}
