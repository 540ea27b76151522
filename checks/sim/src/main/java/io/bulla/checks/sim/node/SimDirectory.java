// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.checks.sim.net.Net;
import io.bulla.runtime.oob.topology.PeerDirectory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/// What a node asks where others listen. It answers at once, or within a time, as the schedule says; as long as
/// things go wrong, it may also fail, know no address, know a wrong one too, or never answer.
final class SimDirectory implements PeerDirectory {

    private final Simulation simulation;
    private final SimNode node;
    private final SplittableRandom random;
    private final long latest;
    private final boolean wrong;
    // the last question about a peer, until it is answered
    private final Map<Integer, CompletableFuture<?>> open = new HashMap<>();

    SimDirectory(Simulation simulation, SimNode node, SplittableRandom random) {
        this.simulation = simulation;
        this.node = node;
        this.random = random;
        this.latest = simulation.schedule.config().getOrDefault("lookup", 0L) * 1000;
        this.wrong = simulation.schedule.config().getOrDefault("lookupWrong", 0L) != 0;
    }

    @Override
    public InetSocketAddress addressOf(int rank) {
        throw new AssertionError("asked for one address");
    }

    @Override
    public CompletionStage<List<SocketAddress>> lookUp(int peer) {
        List<SocketAddress> right = List.of(Net.address(peer));
        if (latest == 0) {
            return CompletableFuture.completedStage(right);
        }
        simulation.sights.see("directory asked");
        CompletableFuture<List<SocketAddress>> answer = new CompletableFuture<>();
        open.put(peer, answer);
        int what = wrong && !simulation.isMended() ? random.nextInt(10) : 10;
        switch (what) {
            case 0 -> {
                open.remove(peer, answer);
                simulation.sights.see("directory throws");
                throw new IllegalStateException("directory throws on purpose");
            }
            case 1 -> {
                IOException failure = new IOException("directory fails on purpose");
                later(peer, answer, "directory fails", () -> answer.completeExceptionally(failure));
            }
            case 2 -> later(peer, answer, "directory knows no address", () -> answer.complete(List.of()));
            case 3 -> later(peer, answer, "directory knows a wrong address", () -> answer.complete(withWrong(peer)));
            case 4 -> simulation.sights.see("directory never answers");
            default -> later(peer, answer, "directory answers", () -> answer.complete(right));
        }
        return answer;
    }

    private List<SocketAddress> withWrong(int peer) {
        List<SocketAddress> both = new ArrayList<>(List.of(Net.address(simulation.hosts - 1), Net.address(peer)));
        return random.nextBoolean() ? both : both.reversed();
    }

    private void later(int peer, CompletableFuture<?> question, String what, Runnable answer) {
        node.later(1 + random.nextLong(latest), () -> {
            open.remove(peer, question);
            simulation.sights.see(what);
            answer.run();
        });
    }

    /// Whether it was asked about a peer last and has not answered.
    boolean isAsked(int peer) {
        return open.containsKey(peer);
    }
}
