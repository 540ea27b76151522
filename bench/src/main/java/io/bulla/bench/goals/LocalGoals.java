// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.oob.LocalHop;
import java.util.ArrayList;
import java.util.List;

/// What nodes of one host gain by lending each other memory.
public final class LocalGoals {

    private static final int[] HOPS = {256, 1 << 10, 4 << 10, 16 << 10, 64 << 10};

    private LocalGoals() {}

    /// The goals, in the order in which they are printed.
    ///
    /// @return a fresh list
    public static List<Goal> all() {
        List<Goal> goals = new ArrayList<>();
        Case memory = XcastProcesses.memory("slab");
        goals.add(Goal.timesFaster(4, "local-xcast-16-64m", XcastProcesses.time("slab"), XcastProcesses.time("bytes")));
        goals.add(Goal.atMost(
                1.1,
                "local-xcast-16-64m-memory",
                memory,
                Case.value("message-64m", "bytes", () -> XcastProcesses.MESSAGE)));
        goals.add(Goal.compare("local-xcast-16-64m-memory-bytes", memory, XcastProcesses.memory("bytes")));
        for (int bytes : HOPS) {
            goals.add(Goal.compare("local-round-trip-" + bytes, hop(bytes, "slab"), hop(bytes, "bytes")));
        }
        return goals;
    }

    private static Case hop(int bytes, String way) {
        return Case.program("ns", LocalHop.class, Integer.toString(bytes), way);
    }
}
