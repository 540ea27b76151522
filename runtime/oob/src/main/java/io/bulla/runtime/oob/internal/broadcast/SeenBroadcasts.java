// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/// The broadcasts that were delivered: their numbers, by origin and its latest sessions. A session that is used
/// stays, the one that was not used for longest goes first. One event loop's.
public final class SeenBroadcasts {

    private static final int SESSIONS = 16;

    private static final class Sessions extends LinkedHashMap<Long, SeenNumbers> {

        private static final long serialVersionUID = 1;

        Sessions() {
            super(SESSIONS, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, SeenNumbers> eldest) {
            return size() > SESSIONS;
        }
    }

    private final Map<Integer, Sessions> origins = new HashMap<>();

    public boolean contains(BroadcastKey key) {
        Sessions sessions = origins.get(key.origin());
        SeenNumbers numbers = sessions == null ? null : sessions.get(key.session());
        return numbers != null && numbers.contains(key.number());
    }

    /// Whether it is not known any more if it was delivered.
    boolean isForgotten(BroadcastKey key) {
        Sessions sessions = origins.get(key.origin());
        SeenNumbers numbers = sessions == null ? null : sessions.get(key.session());
        return numbers != null && numbers.isForgotten(key.number());
    }

    public void add(BroadcastKey key) {
        origins.computeIfAbsent(key.origin(), origin -> new Sessions())
                .computeIfAbsent(key.session(), session -> new SeenNumbers())
                .add(key.number());
    }
}
