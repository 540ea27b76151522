// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.util.ArrayDeque;
import java.util.Deque;

/// Which process is behind a rank: each has a random number for as long as it lives. A new number is a restart;
/// a number that was replaced and comes back beside the one that replaced it is a second process with the same
/// rank. One event loop's.
final class PeerLives {

    private static final int FORMER = 8;

    private final Deque<Long> former = new ArrayDeque<>();
    private long now;

    /// A hello of a process.
    ///
    /// @param connected whether the one that is known is connected
    /// @return false if it is a second one, beside the one that is known
    boolean take(long life, boolean connected) {
        if (life == now) {
            return true;
        }
        if (connected && former.contains(life)) {
            return false;
        }
        former.remove(life);
        if (now != 0) {
            former.addLast(now);
            if (former.size() > FORMER) {
                former.removeFirst();
            }
        }
        now = life;
        return true;
    }
}
