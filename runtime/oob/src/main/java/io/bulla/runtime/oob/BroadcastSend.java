// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.wire.Frame;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// A broadcast on its way to one child, or its confirmation on its way to a parent; or, with a result, from the
/// program to the loop.
final class BroadcastSend extends PendingSend {

    private static final int[] NONE = {};
    // of this node's own, which is not written: it gets its key when it begins
    private static final BroadcastKey NOT_BEGUN = new BroadcastKey(-1, 0, 0);

    /// Of this node's own, on its way to the loop; else `null`.
    final @Nullable CompletableFuture<BroadcastResult> result;
    /// Of which it is a part, if it goes to a child.
    final @Nullable Broadcast of;
    /// Where its bytes still land, if there is no handle; else `null`.
    final @Nullable Broadcast landing;
    /// Of this node's own, on its way to the loop: whom it goes to; each has its quota already.
    final int[] children;
    private boolean hasRooms;
    private final BroadcastKey key;

    private BroadcastSend(
            Frame.Kind kind,
            int tag,
            SendOptions options,
            long bytes,
            @Nullable SealedBuffer handle,
            Peer peer,
            BroadcastKey key,
            @Nullable Broadcast of,
            @Nullable Broadcast landing,
            @Nullable CompletableFuture<BroadcastResult> result,
            int[] children) {
        super(kind, tag, options, bytes, handle, peer);
        this.key = key;
        this.of = of;
        this.landing = landing;
        this.result = result;
        this.children = children;
        this.hasRooms = result != null;
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
                NOT_BEGUN,
                null,
                null,
                new CompletableFuture<>(),
                children);
    }

    /// To a child, of bytes that are all here.
    static BroadcastSend whole(Broadcast of, SealedBuffer handle, Peer child) {
        return toChild(of, handle.byteSize(), handle, child, null);
    }

    /// To a child, of bytes that are still landing.
    static BroadcastSend landing(Broadcast of, Peer child) {
        return toChild(of, of.total, null, child, of);
    }

    private static BroadcastSend toChild(
            Broadcast of, long bytes, @Nullable SealedBuffer handle, Peer child, @Nullable Broadcast landing) {
        return new BroadcastSend(
                Frame.Kind.BROADCAST, of.tag, of.options, bytes, handle, child, of.key, of, landing, null, NONE);
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
                null,
                null,
                NONE);
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
        return landing != null;
    }

    @Override
    boolean isReady(int fragment) {
        return landing == null || skipped || landing.has(offset, fragment);
    }

    @Override
    SealedBuffer piece(int fragment) {
        return landing != null ? landing.piece(offset, fragment) : super.piece(fragment);
    }
}
