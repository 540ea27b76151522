// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.buffer.SealedBuffer;

/// Loads a part of the program's state from a checkpoint, before a handler runs.
@FunctionalInterface
public interface StateLoader {

    /// Takes over a state.
    ///
    /// @param state what [StateSaver#save] gave; open during the call, to keep it, `share()`
    /// @throws Exception if it cannot be loaded
    void load(SealedBuffer state) throws Exception;
}
