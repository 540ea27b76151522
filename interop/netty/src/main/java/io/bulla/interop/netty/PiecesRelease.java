// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Lets go of pieces that are not written, each by itself: a header of the user's, or memory, whose release throws
/// keeps no piece behind it.
final class PiecesRelease {

    private PiecesRelease() {}

    /// @return what the first release threw, with the others suppressed; `null` if none did
    static @Nullable Throwable of(List<MessagePiece> pieces) {
        @Nullable Throwable first = null;
        for (MessagePiece piece : pieces) {
            try {
                piece.release();
            } catch (Throwable failure) {
                if (first == null) {
                    first = failure;
                } else if (first != failure) {
                    first.addSuppressed(failure);
                }
            }
        }
        return first;
    }
}
