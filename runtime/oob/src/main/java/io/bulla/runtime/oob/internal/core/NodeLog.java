// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.core;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.LongAdder;

/// Where a node's classes log: under the name of the class that a user knows.
public final class NodeLog {

    public static final Logger LOG = System.getLogger("io.bulla.runtime.oob.OobNode");

    // a number for people: no order but its own
    private static final LongAdder UNTOLD = new LongAdder();

    private NodeLog() {}

    /// Says what has failed. If not even that can be done, as while the heap is full, it is counted, and the number
    /// stands in the next such line. Never throws: what is behind the failure goes on.
    public static void failed(String what, Throwable failure) {
        try {
            long untold = UNTOLD.sum();
            LOG.log(Level.ERROR, untold == 0 ? what : what + " untold=" + untold, failure);
        } catch (Throwable noLine) {
            UNTOLD.increment();
        }
    }

    /// The same of one node. The line is put together in here, for that may fail, too.
    public static void failed(String what, int rank, Throwable failure) {
        try {
            failed(what + ": rank=" + rank, failure);
        } catch (Throwable noLine) {
            UNTOLD.increment();
        }
    }

    /// The same of one message or peer.
    public static void failed(String what, int rank, String name, int number, Throwable failure) {
        try {
            failed(what + ": rank=" + rank + " " + name + "=" + number, failure);
        } catch (Throwable noLine) {
            UNTOLD.increment();
        }
    }
}
