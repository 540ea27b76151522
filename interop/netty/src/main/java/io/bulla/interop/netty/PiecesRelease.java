// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.refcount.internal.Failures;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Lets go of pieces that are not written, each by itself: a header of the user's, or memory, whose release throws
/// keeps no piece behind it.
final class PiecesRelease {

    private PiecesRelease() {}

    /// @param from the first that is let go
    /// @return what the first release threw, with the others suppressed; `null` if none did
    static @Nullable Throwable of(List<MessagePiece> pieces, int from) {
        @Nullable Throwable first = null;
        // by index: there may be no heap for an iterator, or a part of the list
        for (int i = from; i < pieces.size(); i++) {
            first = release(pieces.get(i), first);
        }
        return first;
    }

    /// @return as above
    static @Nullable Throwable of(MessagePiece piece) {
        return release(piece, null);
    }

    private static @Nullable Throwable release(MessagePiece piece, @Nullable Throwable before) {
        try {
            piece.release();
            return before;
        } catch (Throwable failure) {
            return Failures.join(before, failure);
        }
    }
}
