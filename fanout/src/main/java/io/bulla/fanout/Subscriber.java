// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import io.bulla.buffer.SealedBuffer;

/// The transport's side of a subscription: a channel, a call, a socket.
///
/// `send` and `close` are called by one thread at a time, and each happens before the next; `isReady` likewise. Each
/// of them may call the fan-out and its subscriptions: publish, subscribe, proceed, complete, close, leave.
///
/// When it may be ready again the transport calls [Subscription#proceed], and when it is over [Subscription#leave].
public interface Subscriber {

    /// Whether a message can be sent now, without more being buffered than the transport means to.
    ///
    /// @return false to let messages wait until [Subscription#proceed]
    /// @throws RuntimeException if the transport is broken: it ends this subscription, and no other
    boolean isReady();

    /// Sends a message.
    ///
    /// @param message an open handle, which stays the fan-out's: a transport that keeps the bytes beyond this call
    ///     shares it
    /// @throws RuntimeException if it cannot be sent: it ends this subscription, and no other
    void send(SealedBuffer message);

    /// Closes the transport: no message is sent any more. Called once, unless [Subscription#leave] came before.
    ///
    /// @param why completed, closed, too slow or failed
    /// @throws RuntimeException if the transport is over already, which is ignored
    void close(End why);
}
