// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.util.List;

/// What a node holds back around a cut, as its event loop sees it.
interface Hold {

    /// @throws IllegalStateException if the cut cannot be taken any more
    void checkRuns();

    /// The node's own broadcasts that wait for the end, with a handle each.
    List<Message> kept(Shares shares);

    /// The cut is taken, with all that is in the lanes. Cannot fail.
    void taken();

    boolean isTaken();

    /// It is over, for a reason.
    void fail(String why);
}
