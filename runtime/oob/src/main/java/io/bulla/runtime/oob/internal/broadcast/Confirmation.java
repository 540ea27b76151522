// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.internal.wire.Frame;
import org.jspecify.annotations.Nullable;

/// The confirmation of a broadcast on its way to a parent. One event loop's.
public final class Confirmation extends PendingSend {

    /// Its listener. On the loop.
    public interface Events {

        /// The parent has it.
        void onAcknowledged(Confirmation confirmation);
    }

    public final BroadcastKey key;
    /// The next outcome, to be confirmed when the parent has acknowledged this one; or `null`.
    Broadcast.@Nullable Outcome following;
    private final Events events;

    /// @param failed ranks, owned from now on
    Confirmation(Events events, BroadcastKey key, int reached, SealedBuffer failed, Owner parent) {
        super(Frame.Kind.CONFIRM, reached, SendOptions.DEFAULT, failed.byteSize(), failed, parent);
        this.events = events;
        this.key = key;
    }

    @Override
    public int origin() {
        return key.origin();
    }

    @Override
    public long session() {
        return key.session();
    }

    @Override
    public long number() {
        return key.number();
    }

    @Override
    public void onAcknowledged() {
        events.onAcknowledged(this);
    }
}
