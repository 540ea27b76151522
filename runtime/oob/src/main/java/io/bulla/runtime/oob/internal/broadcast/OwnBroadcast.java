// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.BroadcastResult;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.internal.peer.Peer;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.util.concurrent.CompletableFuture;

/// A broadcast of this node's own, on its way from the program to the loop; there it begins.
///
/// The caller's thread makes it, the rest is one event loop's.
public final class OwnBroadcast extends PendingSend {

    /// Where it begins, now or when a cut is over. On the loop.
    public interface Start {

        void begin(OwnBroadcast own);
    }

    final BroadcastKey key;
    public final CompletableFuture<BroadcastResult> result = new CompletableFuture<>();
    /// Whom it goes to; each has its quota already.
    public final Peer[] children;
    private final Start start;
    private final boolean signed;
    private boolean hasRooms = true;

    /// @param signed whether the bytes end with a signature
    /// @param handle owned from now on
    OwnBroadcast(
            Start start,
            BroadcastKey key,
            int tag,
            SendOptions options,
            boolean signed,
            SealedBuffer handle,
            Owner self,
            Peer[] children) {
        super(Frame.Kind.BROADCAST, tag, options, handle.byteSize(), handle, self);
        this.start = start;
        this.key = key;
        this.signed = signed;
        this.children = children;
    }

    /// The rooms are the sends' of the children from now on.
    void rooms() {
        hasRooms = false;
    }

    @Override
    public boolean begin() {
        start.begin(this);
        return false;
    }

    /// It does not begin.
    @Override
    public void fail(Throwable failure) {
        if (hasRooms) {
            hasRooms = false;
            for (Peer child : children) {
                child.quota().give(1, bytes);
            }
        }
        result.completeExceptionally(failure);
        super.fail(failure);
    }

    @Override
    public boolean isSigned() {
        return signed;
    }
}
