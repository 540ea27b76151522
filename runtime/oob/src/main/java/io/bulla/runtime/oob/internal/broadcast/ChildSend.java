// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.internal.wire.Frame;
import org.jspecify.annotations.Nullable;

/// A broadcast on its way to one child. One event loop's.
final class ChildSend extends PendingSend {

    /// Its listener. On the loop.
    public interface Events {

        /// The child has all of it.
        void onAcknowledged(ChildSend send);

        /// The child does not take it; never while the broadcast asks its children.
        void onRefused(ChildSend send, String why);

        /// It waits for bytes to land, and others wait for it.
        void onGiveWay(ChildSend send);
    }

    /// Of which it is a part.
    final Broadcast of;
    /// It is to be sent once more when the child has acknowledged it.
    boolean again;
    private final Events events;
    // there is no handle: it is sent while it lands
    private final boolean landing;

    private ChildSend(
            Events events, Broadcast of, long bytes, @Nullable SealedBuffer handle, Owner child, boolean landing) {
        super(Frame.Kind.BROADCAST, of.tag, of.options, bytes, handle, child);
        this.events = events;
        this.of = of;
        this.landing = landing;
    }

    /// Of bytes that are all here.
    static ChildSend whole(Events events, Broadcast of, SealedBuffer handle, Owner child) {
        return new ChildSend(events, of, handle.byteSize(), handle, child, false);
    }

    /// Of bytes that are still landing.
    static ChildSend landing(Events events, Broadcast of, Owner child) {
        return new ChildSend(events, of, of.total, null, child, true);
    }

    @Override
    public int origin() {
        return of.key.origin();
    }

    @Override
    public long session() {
        return of.key.session();
    }

    @Override
    public long number() {
        return of.key.number();
    }

    @Override
    public int mark() {
        return of.signed ? super.mark() | Frame.SIGNED : super.mark();
    }

    @Override
    public boolean isSigned() {
        return of.signed;
    }

    @Override
    public boolean isLanding() {
        return landing;
    }

    @Override
    public long landed() {
        return of.landed();
    }

    @Override
    public boolean isReady(int fragment) {
        return !landing || skipped || of.has(offset, fragment);
    }

    @Override
    public SealedBuffer piece(int fragment) {
        return landing ? of.piece(offset, fragment) : super.piece(fragment);
    }

    @Override
    public void onAcknowledged() {
        events.onAcknowledged(this);
    }

    @Override
    public void onRefused(String why) {
        events.onRefused(this, why);
    }

    @Override
    public void giveWay() {
        events.onGiveWay(this);
    }
}
