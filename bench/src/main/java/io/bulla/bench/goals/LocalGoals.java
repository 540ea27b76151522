// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.shared.NodeFanOut;
import java.util.ArrayList;
import java.util.List;

/// What nodes of one host gain by lending each other memory.
public final class LocalGoals {

    private static final int[] SIZES = {1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10};
    private static final int CHILDREN = 8;
    private static final SharedRun PAIR = SharedRun.program(NodeFanOut.class, _ -> List.of("1"));
    private static final SharedRun FAN_OUT =
            SharedRun.program(NodeFanOut.class, _ -> List.of(Integer.toString(CHILDREN)));

    private LocalGoals() {}

    /// The goals, in the order in which they are printed.
    ///
    /// @return a fresh list
    public static List<Goal> all() {
        List<Goal> goals = new ArrayList<>();
        Case memory = XcastProcesses.memory("slab");
        goals.add(Goal.timesFaster(4, "local-xcast-16-64m", XcastProcesses.time("slab"), XcastProcesses.time("bytes")));
        goals.add(Goal.compare(
                "local-xcast-16-64m-memory", memory, Case.value("message-64m", "bytes", () -> XcastProcesses.MESSAGE)));
        // what 16 JVMs do for the first time takes more than a tenth of the message by itself
        goals.add(Goal.atMost(1.1, "local-xcast-16-64m-memory-floor", memory, XcastProcesses.leastMemory("slab")));
        goals.add(Goal.compare("local-xcast-16-64m-memory-bytes", memory, XcastProcesses.memory("bytes")));
        for (int bytes : SIZES) {
            goals.add(Goal.compare(
                    "local-round-trip-" + bytes, nodes(PAIR, 1, "slab", bytes), nodes(PAIR, 1, "bytes", bytes)));
        }
        for (int bytes : SIZES) {
            goals.add(Goal.compare(
                    "local-fan-out-8-" + bytes,
                    nodes(FAN_OUT, CHILDREN, "slab", bytes),
                    nodes(FAN_OUT, CHILDREN, "bytes", bytes)));
        }
        return goals;
    }

    /// One process sends the same size back, each of several a few bytes.
    private static Case nodes(SharedRun run, int processes, String way, int bytes) {
        String which = way + "-" + bytes + "-ends-" + (processes == 1 ? "back" : "few");
        return new Case("NodeFanOut[" + processes + "," + which + "]", "ns", run.reading(which));
    }
}
