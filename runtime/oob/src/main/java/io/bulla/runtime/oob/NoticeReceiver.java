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
}
