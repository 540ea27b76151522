// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// A broadcast on its way to one child, or its confirmation on its way to a parent; or, with a result, from the
/// program to the loop.
final class BroadcastSend extends PendingSend {

    private static final int[] NONE = {};
    /// Of this node's own, on its way to the loop; else `null`.
    final @Nullable CompletableFuture<BroadcastResult> result;
    /// Of which it is a part, if it goes to a child.
    final @Nullable Broadcast of;
    /// Where its bytes still land, if there is no handle; else `null`.
    final @Nullable Broadcast landing;
    /// Of this node's own, on its way to the loop: whom it goes to; each has its quota already.
    final int[] children;
    private boolean hasRooms;
    final BroadcastKey key;
    private final boolean signed;
    /// It is to be sent once more when the child has acknowledged it.
    boolean again;
    /// What is to be confirmed when the parent has acknowledged this confirmation; or `null`.
    Broadcast.@Nullable Outcome following;

    private BroadcastSend(
            Frame.Kind kind,
            int tag,
            SendOptions options,
            long bytes,
            @Nullable SealedBuffer handle,
            Peer peer,
            BroadcastKey key,
            boolean signed,
            @Nullable Broadcast of,
            @Nullable Broadcast landing,
            @Nullable CompletableFuture<BroadcastResult> result,
            int[] children) {
        super(kind, tag, options, bytes, handle, peer);
        this.key = key;
        this.signed = signed;
        this.of = of;
        this.landing = landing;
        this.result = result;
        this.children = children;
        this.hasRooms = result != null;
    }

    /// Of this node's own, to itself: it begins.
    ///
    /// @param signed whether the bytes end with a signature
    static BroadcastSend begin(
            BroadcastKey key,
            int tag,
            SendOptions options,
            boolean signed,
            SealedBuffer handle,
            Peer self,
            int[] children) {
        return new BroadcastSend(
                Frame.Kind.BROADCAST,
                tag,
                options,
                handle.byteSize(),
                handle,
                self,
                key,
                signed,
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
                Frame.Kind.BROADCAST,
                of.tag,
                of.options,
                bytes,
                handle,
                child,
                of.key,
                of.signed,
                of,
                landing,
                null,
                NONE);
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
                false,
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
    int mark() {
        return signed ? super.mark() | Frame.SIGNED : super.mark();
    }

    @Override
    boolean isSigned() {
        return signed;
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
