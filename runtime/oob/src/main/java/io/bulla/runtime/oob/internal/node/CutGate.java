// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.node;

import io.bulla.runtime.oob.Message;
import java.util.List;

/// A cut that is being taken while its node goes on, as the node sees it. On the loop.
public interface CutGate {

    /// @throws IllegalStateException if the cut cannot be taken any more
    void checkRuns();

    /// The broadcasts that wait.
    ///
    /// @param shares gets each handle
    List<Message> kept(HandleSet shares);

    /// The cut is taken, with all that is in the lanes.
    void taken();

    boolean isTaken();

    /// It fits no other any more; what waits goes on.
    void fail(String why);
}
