// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.bulk;

import io.bulla.buffer.SealedBuffer;
import java.io.IOException;

/// Memory that one peer may write to, by a key.
public interface BulkLanding extends AutoCloseable {

    /// What the peer names it by.
    ///
    /// @return a key that no other landing has or had
    long key();

    /// Where the peer writes.
    ///
    /// @return what the device wants beside the key
    long target();

    /// Ends it, as the peer has said that all is written: the key is void.
    ///
    /// @return all of its bytes, in a handle of the caller's
    /// @throws IOException if the device has not let go of the memory: the landing is over all the same
    SealedBuffer seal() throws IOException;

    /// Ends it without a buffer, as the peer has said that it writes no more. Again does nothing.
    @Override
    void close();
}
