// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

import java.util.ArrayDeque;
import java.util.Deque;

/// Which process is behind a rank: each has a random number for as long as it lives. A new number is a restart;
/// a number that was replaced and comes back beside the one that replaced it is a second process with the same
/// rank. One event loop's.
final class PeerIncarnations {

    private static final int FORMER = 8;

    private final Deque<Long> former = new ArrayDeque<>(FORMER + 1);
    private long now;

    /// Why a session is over that the other side does not know.
    ///
    /// @param incarnation of the process that says so; 0 if it does not say
    String whyOver(long incarnation) {
        if (incarnation == 0 || now == 0) {
            return "its session is over: it was restarted, or had given this node up";
        }
        return incarnation == now ? "it had given this node up" : "it was restarted";
    }

    /// The process that was heard last, or 0.
    long now() {
        return now;
    }

    /// A hello of a process.
    ///
    /// @param connected whether the one that is known is connected
    /// @return false if it is a second one, beside the one that is known
    boolean take(long incarnation, boolean connected) {
        if (incarnation == now) {
            return true;
        }
        if (connected && former.contains(incarnation)) {
            return false;
        }
        former.remove(incarnation);
        if (now != 0) {
            former.addLast(now);
            if (former.size() > FORMER) {
                former.removeFirst();
            }
        }
        now = incarnation;
        return true;
    }
}
