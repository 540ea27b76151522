// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.grpc.GrpcCost;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// One message to many gRPC streams: what it costs the server, for each message and stream.
public final class GrpcGoals {

    private static final SharedRun RUN =
            SharedRun.program(GrpcCost.class, length -> List.of(length.name().toLowerCase(Locale.ROOT)));

    private GrpcGoals() {}

    public static List<Goal> all() {
        List<Goal> goals = new ArrayList<>();
        goals.add(goal(3, "grpc-1000-16k", "feed streams=1000 bytes=16384", "above", "plain"));
        goals.add(goal(10, "grpc-1000-16k-heap", "feed streams=1000 bytes=16384", "heap", "plain"));
        goals.add(goal(1, "grpc-1000-16k-array", "feed streams=1000 bytes=16384", "cpu", "array"));
        goals.add(goal(1, "grpc-1000-16k-array-heap", "feed streams=1000 bytes=16384", "heap", "array"));
        goals.add(goal(1.5, "grpc-1000-1k", "feed streams=1000 bytes=1024", "above", "plain"));
        goals.add(goal(3, "grpc-200-256k", "feed streams=200 bytes=262144", "above", "plain"));
        goals.add(goal(1 / 1.03, "grpc-one-stream", "feed streams=1 bytes=16384", "cpu", "plain"));
        goals.add(goal(4, "grpc-relay-100-16k", "relay streams=100 bytes=16384", "cpu", "plain"));
        for (String cell : List.of(
                "feed streams=1000 bytes=16384", "feed streams=1000 bytes=1024", "feed streams=200 bytes=262144")) {
            String name = cell.replaceAll("[^0-9]+", "-");
            goals.add(Goal.compare("grpc-floor" + name, number(cell, "shared-cpu"), number(cell, "floor-cpu")));
            goals.add(Goal.compare("grpc-whole" + name, number(cell, "shared-cpu"), number(cell, "plain-cpu")));
        }
        goals.add(Goal.compare(
                "grpc-relay-above",
                number("relay streams=100 bytes=16384", "shared-above"),
                number("relay streams=100 bytes=16384", "plain-above")));
        return goals;
    }

    private static Goal goal(double times, String name, String cell, String what, String rival) {
        return Goal.timesFaster(times, name, number(cell, "shared-" + what), number(cell, rival + "-" + what));
    }

    private static Case number(String cell, String which) {
        return new Case(
                "grpc[" + cell.replace(" ", ",") + "]." + which,
                which.endsWith("heap") ? "bytes" : "ns",
                RUN.reading(cell + " " + which));
    }
}
