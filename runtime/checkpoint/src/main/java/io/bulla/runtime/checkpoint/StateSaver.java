// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.buffer.SealedBuffer;

/// Saves a part of the program's state at a cut.
@FunctionalInterface
public interface StateSaver {

    /// Called on the handlers' thread, between two messages: what handlers have done until now is in, what they do
    /// later is not. Handlers wait meanwhile, so state that is sealed already, or a value that does not change, is
    /// best.
    ///
    /// @return a handle, which the checkpoint closes
    /// @throws Exception if it cannot be saved: the checkpoint is aborted then
    SealedBuffer save() throws Exception;
}
