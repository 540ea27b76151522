// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.session;

import io.bulla.buffer.SealedBuffer;

/// Takes the events of the server. Called on the thread that reads.
public interface EventSink {

    /// @param body of an event; taken over
    void heard(SealedBuffer body);

    /// An event was too long, or there was no memory for it.
    void dropped();
}
