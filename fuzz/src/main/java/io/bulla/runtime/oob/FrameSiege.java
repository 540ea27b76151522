// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.fuzz.Slope;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.util.ArrayList;
import java.util.List;

/// Every kind of frame of the message layer, sent to a real node over and over: by a member that has said hello, and
/// by a peer that has not.
public final class FrameSiege {

    private static final int KEPT_BYTES = 64;

    private FrameSiege() {}

    /// Sends all of them.
    ///
    /// @param lasting repetitions of what leaves the connection open
    /// @param ending repetitions of what ends it, each of which is a connection
    /// @param slope what is measured by
    /// @throws Exception if the node does something else than to take it or to end the connection
    public static void run(long lasting, long ending, Slope slope) throws Exception {
        for (Frame.Kind kind : Frame.Kind.values()) {
            for (SiegeRow row : SiegeRow.of(kind)) {
                try (SiegeNode node = new SiegeNode(() -> {})) {
                    node.member(row, lasting, ending, slope);
                }
            }
            if (kind != Frame.Kind.HELLO && kind != Frame.Kind.REFUSE) {
                try (SiegeNode node = new SiegeNode(() -> {})) {
                    node.unknownPeer(SiegeRow.unknownPeer(kind), ending, slope);
                }
            }
        }
    }

    /// A node that keeps something of each message, to show that it is found.
    ///
    /// @param lasting repetitions
    /// @param slope what is measured by
    /// @throws Exception if the node cannot be started
    public static void planted(long lasting, Slope slope) throws Exception {
        List<byte[]> kept = new ArrayList<>();
        try (SiegeNode node = new SiegeNode(() -> kept.add(new byte[KEPT_BYTES]))) {
            node.member(SiegeRow.of(Frame.Kind.DIRECT).getFirst(), lasting, lasting, slope);
        }
    }
}
