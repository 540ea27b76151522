// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.wire.Frame;
import java.util.concurrent.CompletableFuture;

/// A broadcast on its way to one child, or its confirmation on its way to a parent; or, with a result, from the
/// program to the loop.
final class BroadcastSend extends PendingSend {

    final CompletableFuture<BroadcastResult> result;
    /// Of which it is a part, if it goes to a child.
    final Broadcast of;
    /// Of this node's own, on its way to the loop: whom it goes to; each has its quota already.
    final int[] children;
    private boolean hasRooms;
    private final BroadcastKey key;
    // the bytes are where they land, there is no handle
    private final boolean landing;

    private BroadcastSend(
            Frame.Kind kind,
            int tag,
            SendOptions options,
            long bytes,
            SealedBuffer handle,
            Peer peer,
            BroadcastKey key,
            Broadcast of,
            boolean landing,
            CompletableFuture<BroadcastResult> result,
            int[] children) {
        super(kind, tag, options, bytes, handle, peer);
        this.key = key;
        this.of = of;
        this.landing = landing;
        this.result = result;
        this.children = children;
        this.hasRooms = children != null;
    }

    /// Of this node's own, to itself: it begins.
    static BroadcastSend begin(int tag, SendOptions options, SealedBuffer handle, Peer self, int[] children) {
        return new BroadcastSend(
                Frame.Kind.BROADCAST,
                tag,
                options,
                handle.byteSize(),
                handle,
                self,
                null,
                null,
                false,
                new CompletableFuture<>(),
                children);
    }

    /// To a child, of bytes that are all here.
    static BroadcastSend whole(Broadcast of, SealedBuffer handle, Peer child) {
        return toChild(of, handle.byteSize(), handle, child, false);
    }

    /// To a child, of bytes that are still landing.
    static BroadcastSend landing(Broadcast of, Peer child) {
        return toChild(of, of.total, null, child, true);
    }

    private static BroadcastSend toChild(Broadcast of, long bytes, SealedBuffer handle, Peer child, boolean landing) {
        return new BroadcastSend(
                Frame.Kind.BROADCAST, of.tag, of.options, bytes, handle, child, of.key, of, landing, null, null);
    }

    /// Of the confirmation.
    static BroadcastSend done(BroadcastKey key, int reached, SealedBuffer failed, Peer parent) {
        return new BroadcastSend(
                Frame.Kind.CONFIRM,
                reached,
                SendOptions.DEFAULT,
                failed.byteSize(),
                failed,
                parent,
                key,
                null,
                false,
                null,
                null);
    }

    /// The rooms are the sends' of the children from now on.
    void rooms() {
        hasRooms = false;
    }

    /// It does not begin.
    void giveRooms(NodeLoop nodeLoop) {
        if (hasRooms) {
            hasRooms = false;
            for (int child : children) {
                nodeLoop.peer(child).quota.give(1, bytes);
            }
        }
    }

    @Override
    int origin() {
        return key.origin();
    }

    @Override
    long session() {
        return key.session();
    }

    @Override
    long number() {
        return key.number();
    }

    @Override
    boolean isLanding() {
        return landing;
    }

    @Override
    boolean isReady(int fragment) {
        return !landing || skipped || of.has(offset, fragment);
    }

    @Override
    SealedBuffer piece(int fragment) {
        return landing ? of.piece(offset, fragment) : super.piece(fragment);
    }
}
