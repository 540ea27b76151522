// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

/// Receives the messages of one tag.
@FunctionalInterface
public interface MessageHandler {

    /// A message has arrived. Runs on the node's handler thread, one message at a time, without any lock of the
    /// library; it may read, re-send and answer.
    ///
    /// @param message its handle is closed by the node when this method returns
    void received(Message message);
}
