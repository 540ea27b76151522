// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

/// Why a subscription ended.
public sealed interface End {

    /// Everything was sent.
    record Completed() implements End {}

    /// The fan-out, or the program, closed it; what waited was dropped.
    record Closed() implements End {}

    /// Its queue was full, and its fan-out's policy disconnects the slow; what waited was dropped.
    ///
    /// @param queued messages that waited
    /// @param queuedBytes their bytes
    record TooSlow(int queued, long queuedBytes) implements End {}

    /// A call of its transport threw an exception, or the program says why; what waited was dropped.
    ///
    /// @param cause what was thrown
    record Failed(Throwable cause) implements End {}

    /// Its transport said that it is over ([Subscription#leave]); what waited was dropped. A transport is not closed
    /// with this.
    record Left() implements End {}

    /// Everything was sent.
    End COMPLETED = new Completed();

    /// The fan-out, or the program, closed it.
    End CLOSED = new Closed();

    /// Its transport said that it is over.
    End LEFT = new Left();
}
