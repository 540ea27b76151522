// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import io.aeron.logbuffer.Header;
import io.bulla.buffer.SealedBuffer;

/// Gets the messages of a subscription.
@FunctionalInterface
public interface SealedMessageHandler {

    /// A whole message has arrived, and is the callee's from now on. Runs in the poll, on its thread. What it throws
    /// goes to Aeron's error handler; the message was delivered and does not come again.
    ///
    /// @param message the callee closes the handle, when it likes and on any thread, also if it throws
    /// @param header of the message's last fragment; valid during the call only
    void onMessageMoved(SealedBuffer message, Header header);
}
