// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.node;

import io.bulla.buffer.SealedBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Handles that are taken one after the other, to be kept all or given back all.
public final class HandleSet {

    private final Consumer<SealedBuffer> closing;
    private final List<@Nullable SealedBuffer> taken = new ArrayList<>();
    private int given;

    /// @param closing closes a handle, whatever its release does
    public HandleSet(Consumer<SealedBuffer> closing) {
        this.closing = closing;
    }

    /// @param tag of the holder, or `null`
    public SealedBuffer of(SealedBuffer buffer, @Nullable Object tag) {
        // the place before the handle
        taken.add(null);
        SealedBuffer share = tag == null ? buffer.share() : buffer.share(tag);
        taken.set(taken.size() - 1, share);
        return share;
    }

    /// The oldest one that is still here has another holder.
    public void give() {
        given++;
    }

    /// Closes those that are still here.
    public void close() {
        // by index: there may be no heap for an iterator
        for (int i = given; i < taken.size(); i++) {
            SealedBuffer share = taken.get(i);
            if (share != null) {
                closing.accept(share);
            }
        }
    }
}
