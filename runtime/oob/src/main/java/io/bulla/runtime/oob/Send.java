// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

/// A message on its way: a stage that completes once, with a [Delivery], or exceptionally with
///
/// - a [PeerFailedException]: the peer failed, or this node was closed; whether the message arrived is not known;
/// - a [java.util.concurrent.CancellationException]: it was cancelled;
/// - a [java.util.concurrent.TimeoutException]: its deadline has passed;
/// - a [QueueFullException]: it was not queued at all.
///
/// ```
/// queued --first byte--> on the wire --all bytes--> written --acknowledged--> gone: the handle is closed
///   |                        |                         |
///   +-- cancel: forgotten    +-- cancel: a SKIP takes its place, the receiver drops what it has
///                                                      +-- cancel: too late to stop it, it may be handled
/// ```
///
/// It is also a [Future], for a thread that waits. What depends on it without an executor of its own runs on the
/// node's event loop, and must not block. Completing its `toCompletableFuture()` from outside is a cancel. A node
/// makes it; a program has no use for one of its own.
public interface Send extends CompletionStage<Delivery>, Future<Delivery> {

    /// Ends the send if it is not complete. What was not begun is not sent.
    ///
    /// @return false if it was complete already
    default boolean cancel() {
        return cancel(false);
    }
}
