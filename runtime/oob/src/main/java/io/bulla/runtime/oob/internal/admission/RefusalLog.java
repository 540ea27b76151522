// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.admission;

import io.netty.util.concurrent.EventExecutor;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Says which connections were refused, and why, without being a way to fill a disk: of each kind the first at
/// once, and then one line a second for all that have come since.
///
/// ```
/// quiet --first: a line--> counting --a second without another--> quiet
///                            ^    |
///                            +----+ a second with others: a line with their number
/// ```
///
/// The kind is what the reason says before its values, so unauthenticated peers do not choose it; nevertheless there
/// are only so many. One event loop's.
public final class RefusalLog {

    private static final Logger LOG = System.getLogger("io.bulla.runtime.oob.OobNode");
    private static final long QUIET_MILLIS = 1_000;
    private static final int KINDS = 32;
    private static final Pattern VALUE = Pattern.compile("[:=/0-9]");
    private static final String OTHERS = "others";
    private static final int LONGEST = 300;

    /// Those of one kind that no line was written for yet.
    private static final class Unsaid {

        private int count;
        private @Nullable SocketAddress last;
        private @Nullable String why;
    }

    private final int rank;
    private final EventExecutor loop;
    private final Map<String, Unsaid> kinds = new HashMap<>();

    public RefusalLog(int rank, EventExecutor loop) {
        this.rank = rank;
        this.loop = loop;
    }

    /// @param reason as errors are: what, then values behind a colon; `null` if the failure says none
    public void refused(SocketAddress remote, @Nullable String reason) {
        String why = printable(reason);
        String kind = kindOf(why);
        Unsaid unsaid = kinds.get(kind);
        if (unsaid == null) {
            LOG.log(Level.WARNING, "refused a connection: rank=" + rank + " remote=" + remote + " reason=" + why);
            kinds.put(kind, new Unsaid());
            sayLater(kind);
        } else {
            unsaid.count++;
            unsaid.last = remote;
            unsaid.why = why;
        }
    }

    /// What stands before the first value, and before the colon that announces it: ranks, addresses and ports are no
    /// kinds.
    private String kindOf(String why) {
        Matcher value = VALUE.matcher(why);
        String kind = value.find() ? why.substring(0, value.start()) : why;
        return kinds.containsKey(kind) || kinds.size() < KINDS ? kind : OTHERS;
    }

    /// What TLS says may quote an unauthenticated peer.
    private static String printable(@Nullable String reason) {
        String all = String.valueOf(reason).replaceAll("\\p{Cntrl}", "?");
        return all.length() <= LONGEST ? all : all.substring(0, LONGEST) + "...";
    }

    private void sayLater(String kind) {
        loop.schedule(() -> sayAgain(kind), QUIET_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void sayAgain(String kind) {
        Unsaid unsaid = kinds.remove(kind);
        if (unsaid != null && say(unsaid)) {
            kinds.put(kind, new Unsaid());
            sayLater(kind);
        }
    }

    private boolean say(Unsaid unsaid) {
        if (unsaid.count > 0) {
            LOG.log(
                    Level.WARNING,
                    "refused connections: rank=" + rank + " count=" + unsaid.count + " last=" + unsaid.last + " reason="
                            + unsaid.why);
        }
        return unsaid.count > 0;
    }

    /// The node closes: what is left to be said.
    public void close() {
        kinds.values().forEach(this::say);
        kinds.clear();
    }
}
