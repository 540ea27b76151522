// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.netty.buffer.CompositeByteBuf;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Lets go of pieces that are not written, each part by itself: a header of the user's whose release throws keeps no
/// view of the message, as it would within Netty's composite, and no piece behind it.
final class PartsRelease {

    private @Nullable Throwable first;

    private PartsRelease() {}

    /// @return what the first release threw, with the others suppressed; `null` if none did
    static @Nullable Throwable of(List<CompositeByteBuf> pieces) {
        PartsRelease release = new PartsRelease();
        for (CompositeByteBuf piece : pieces) {
            // the views first: a part that throws stays in its composite
            for (int part = piece.numComponents() - 1; part >= 0; part--) {
                int each = part;
                release.attempt(() -> piece.removeComponent(each));
            }
            release.attempt(piece::release);
        }
        return release.first;
    }

    private void attempt(Runnable release) {
        try {
            release.run();
        } catch (Throwable failure) {
            Throwable before = first;
            if (before == null) {
                first = failure;
            } else if (before != failure) {
                before.addSuppressed(failure);
            }
        }
    }
}
