// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

/// Hears the notices of peers.
@FunctionalInterface
public interface NoticeReceiver {

    /// A notice has come, perhaps again, and perhaps after others of the topic that were not heard.
    ///
    /// @param peer rank of the sender
    /// @param topic as the sender said
    /// @param text as the sender said, the receiver's to keep
    void received(int peer, int topic, byte[] text);

    /// A notice waits for a peer that was given up before and not heard since, and all its addresses were tried in
    /// vain once more. The notice waits on: for the peer timeout, after which the verdict falls again.
    ///
    /// @param peer rank of the receiver
    /// @param why it was given up, and what the last attempt to connect has failed with
    default void notReached(int peer, String why) {}
}
