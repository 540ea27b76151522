// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.util.Objects;

/// Receives the messages of one tag.
@FunctionalInterface
public interface MessageHandler {

    /// Marks a handler that does not block, so that it runs on the event loop: no other thread is woken for a
    /// message. See [#runsOnLoop].
    ///
    /// @param handler returns soon, and waits for nothing
    /// @return a handler of which [#runsOnLoop] is true
    static MessageHandler onLoop(MessageHandler handler) {
        Objects.requireNonNull(handler, "handler");
        return new MessageHandler() {
            @Override
            public void received(Message message) {
                handler.received(message);
            }

            @Override
            public boolean runsOnLoop() {
                return true;
            }
        };
    }

    /// A message has arrived. Runs on the node's handler thread, one message at a time, without any lock of the
    /// library; it may read, re-send and answer.
    ///
    /// @param message its handle is closed by the node when this method returns
    void received(Message message);

    /// Whether this handler promises not to block, and runs on the node's event loop: still one message at a time
    /// and in order, but beside the handlers of other tags. Asked once, when it is registered.
    ///
    /// What waited before it was registered, and a signed broadcast, is handled on the handler thread. While it
    /// runs, the node does nothing else. If a call takes longer than a quarter of the [OobNodeBuilder#heartbeat],
    /// the log names the tag and where the call stands; once it returns, the tag's messages are handled on the
    /// handler thread. [OobNode#sendBlocking] fails at once in it; [OobNode#send] never waits.
    ///
    /// @return false by default
    default boolean runsOnLoop() {
        return false;
    }
}
