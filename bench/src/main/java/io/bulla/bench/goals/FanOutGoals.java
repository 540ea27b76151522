// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.fanout.Transport;
import java.util.ArrayList;
import java.util.List;

/// What a fan-out through sockets, TLS and descriptors may cost beside what users of these do. The whole of it is
/// in [FanOutMatrix].
public final class FanOutGoals {

    private static final int KIB = 1 << 10;
    private static final int MEDIUM = 1 << 18;
    private static final int LARGE = 1 << 22;
    private static final int PEERS = 64;

    private FanOutGoals() {}

    public static List<Goal> all() {
        List<Goal> goals = new ArrayList<>();
        netty(goals);
        unix(goals);
        descriptor(goals);
        goals.add(atMost(1.1, "aeron-64-256k", Transport.AERON, "sealed-offer", Transport.AERON, "offer", MEDIUM));
        return goals;
    }

    private static void netty(List<Goal> goals) {
        for (Transport transport : List.of(Transport.TCP, Transport.TLS)) {
            String name = transport == Transport.TCP ? "tcp" : "tls";
            goals.add(compare(name + "-1-1k-retained", transport, "shares", transport, "retained-duplicate", 1, KIB));
            for (int size : List.of(MEDIUM, LARGE)) {
                String cell = name + "-64-" + (size == LARGE ? "4m" : "256k");
                goals.add(atMost(1.1, cell + "-retained", transport, "shares", transport, "retained-duplicate", size));
                goals.add(atMost(1, cell + "-pooled", transport, "shares", transport, "copy-pooled", size));
            }
        }
    }

    private static void unix(List<Goal> goals) {
        goals.add(atMost(0.8, "unix-64-256k-heap", Transport.UNIX, "shares", Transport.NIO, "heap", MEDIUM));
        goals.add(atMost(
                1, "unix-64-256k-byte-string", Transport.UNIX, "shares", Transport.NIO, "byte-string-shared", MEDIUM));
        goals.add(compare("unix-64-256k-aeron", Transport.UNIX, "shares", Transport.AERON, "offer", PEERS, MEDIUM));
    }

    private static void descriptor(List<Goal> goals) {
        goals.add(
                atMost(0.1, "descriptor-64-4m-pooled", Transport.DESCRIPTOR, "seal", Transport.UNIX, "pooled", LARGE));
        goals.add(atMost(
                1, "descriptor-64-4m-touched", Transport.DESCRIPTOR, "seal-touched", Transport.UNIX, "pooled", LARGE));
        goals.add(atMost(
                0.1,
                "descriptor-64-4m-memfd-each",
                Transport.DESCRIPTOR,
                "seal",
                Transport.DESCRIPTOR,
                "memfd-per-send",
                LARGE));
        goals.add(compare("descriptor-1-1k-pooled", Transport.DESCRIPTOR, "seal", Transport.UNIX, "pooled", 1, KIB));
        goals.add(atMost(1, "descriptor-64-4m-aeron", Transport.DESCRIPTOR, "seal", Transport.AERON, "offer", LARGE));
    }

    private static Goal compare(
            String name, Transport ours, String design, Transport rival, String other, int peers, int size) {
        return Goal.compare(
                "fanout-" + name, FanOutCases.of(ours, design, peers, size), FanOutCases.of(rival, other, peers, size));
    }

    private static Goal atMost(
            double wanted, String name, Transport ours, String design, Transport rival, String other, int size) {
        return Goal.atMost(
                wanted,
                "fanout-" + name,
                FanOutCases.of(ours, design, PEERS, size),
                FanOutCases.of(rival, other, PEERS, size));
    }
}
