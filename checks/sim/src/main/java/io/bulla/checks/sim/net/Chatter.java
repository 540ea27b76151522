// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.net;

import io.bulla.runtime.oob.internal.wire.Frame;
import java.util.EnumSet;
import java.util.Set;

/// Acknowledgements are for messages, for connections and for heartbeats, not for each other.
///
/// A node answers what a hostile member says as it answers any other: it owes an ACK for each frame of a lane, a few
/// for each message, and does not know that the message is one of thousands of no use. So what such a member says is
/// a reason as well, but only for what is said to it: lines of a hostile member are counted apart, and no flood is an
/// excuse for two nodes that answer each other's acknowledgements. Those that the member itself says are none.
public final class Chatter {

    private static final long MOST = 3;
    private static final Set<Frame.Kind> REASONS = EnumSet.of(
            Frame.Kind.DIRECT,
            Frame.Kind.BROADCAST,
            Frame.Kind.INVITE,
            Frame.Kind.PROOF,
            Frame.Kind.BATCH,
            Frame.Kind.CONFIRM,
            Frame.Kind.SKIP,
            Frame.Kind.REQUEST,
            Frame.Kind.CLEAR,
            Frame.Kind.FINISHED,
            Frame.Kind.HELLO,
            Frame.Kind.RESUME);

    private static final class Count {

        private long said;
        private long reasons;

        /// @return what is wrong, or `null`
        private String check(String lines, long more, long beats) {
            return said <= MOST * (reasons + more) + beats
                    ? null
                    : "lines=" + lines + " said=" + said + " reasons=" + (reasons + more);
        }
    }

    private final Count nodes = new Count();
    private final Count hostile = new Count();

    /// A frame is written.
    ///
    /// @param ofHostile whether the line is one of a hostile member
    /// @param byHostile whether that member writes it
    public void frame(Frame.Kind kind, boolean ofHostile, boolean byHostile) {
        Count count = ofHostile ? hostile : nodes;
        if (kind == Frame.Kind.CONFIRM && ofHostile && !byHostile) {
            // the member owes the answer, and a CONFIRM waits for no credit
            return;
        }
        if (REASONS.contains(kind)) {
            count.reasons++;
        } else if (kind == Frame.Kind.ACK && !byHostile) {
            count.said++;
        }
    }

    /// @param sends of programs: what is taken in is acknowledged, and what is handled
    /// @param beats how often each node has spoken to each other one because there was nothing to say
    /// @return what is wrong, or `null`
    public String check(int size, long sends, long beats) {
        String wrong = nodes.check("nodes", sends, 2L * size * size * beats);
        return wrong != null ? wrong : hostile.check("hostile", 0, 2L * size * beats);
    }
}
