// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;

/// How a broadcast gets, for one child, the handle that the send holds until it is over.
@FunctionalInterface
public interface SendPolicy {

    /// All children share the one buffer.
    SendPolicy SHARED = SealedBuffer::share;

    /// Every child gets a copy of its own, as runtimes did when the shared buffer could not be trusted: Open
    /// MPI's r27161 (2012). For comparison.
    ///
    /// @param source where copies come from
    /// @return a policy that copies
    static SendPolicy copying(MemorySource source) {
        return message -> message.copy(source);
    }

    /// The handle for one send.
    ///
    /// @param message stays its holder's
    /// @return a handle that the send closes
    SealedBuffer outgoing(SealedBuffer message);
}
