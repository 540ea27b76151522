// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.core;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicLong;

/// Where a node's classes log: under the name of the class that a user knows.
public final class NodeLog {

    public static final Logger LOG = System.getLogger("io.bulla.runtime.oob.OobNode");

    // a number for people: no order but its own. No LongAdder, whose first use, and whose first race, takes heap
    private static final AtomicLong UNTOLD = new AtomicLong();

    private NodeLog() {}

    /// Makes what is needed to say a failure while there is heap for it.
    public static void load() {
        // this class is initialized by the call
        Trouble.load();
    }

    /// Says what has failed. If not even that can be done, as while the heap is full, it is counted, and the number
    /// stands in the next such line. Never throws: what is behind the failure goes on.
    public static void failed(Trouble what, Throwable failure) {
        log(what.text(), failure);
    }

    /// The same of one node. The line is put together in here, for that may fail, too.
    public static void failed(Trouble what, int rank, Throwable failure) {
        try {
            log(what.text() + ": rank=" + rank, failure);
        } catch (Throwable noLine) {
            UNTOLD.incrementAndGet();
        }
    }

    /// The same of one message or peer.
    ///
    /// @param number of what the trouble says
    public static void failed(Trouble what, int rank, int number, Throwable failure) {
        try {
            log(what.text() + ": rank=" + rank + " " + what.number() + "=" + number, failure);
        } catch (Throwable noLine) {
            UNTOLD.incrementAndGet();
        }
    }

    /// The same of a notice.
    public static void noticeFailed(int rank, int peer, int topic, Throwable failure) {
        try {
            log("notice failed: rank=" + rank + " peer=" + peer + " topic=" + topic, failure);
        } catch (Throwable noLine) {
            UNTOLD.incrementAndGet();
        }
    }

    private static void log(String line, Throwable failure) {
        try {
            long untold = UNTOLD.get();
            LOG.log(Level.ERROR, untold == 0 ? line : line + " untold=" + untold, failure);
        } catch (Throwable noLine) {
            UNTOLD.incrementAndGet();
        }
    }
}
