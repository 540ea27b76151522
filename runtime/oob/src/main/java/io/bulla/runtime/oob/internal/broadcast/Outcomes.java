// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What came of the last broadcasts that a node has handed on, for those that arrive again. Broadcasts fail at the
/// same ranks as a rule, and all those have one list of them. One event loop's.
final class Outcomes {

    private static final int MOST = 4096;

    /// The answer that goes upwards once more.
    public record Kept(int reached, List<Integer> failed) {}

    private final Map<BroadcastKey, Kept> outcomes = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<BroadcastKey, Kept> eldest) {
            return size() > MOST;
        }
    };
    private List<Integer> lastFailed = List.of();

    void put(BroadcastKey key, int reached, List<Integer> failed) {
        if (!lastFailed.equals(failed)) {
            lastFailed = failed;
        }
        outcomes.put(key, new Kept(reached, lastFailed));
    }

    @Nullable
    Kept get(BroadcastKey key) {
        return outcomes.get(key);
    }
}
