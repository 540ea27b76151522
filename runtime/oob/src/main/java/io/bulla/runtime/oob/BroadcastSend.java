// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.wire.Frame;
import java.util.concurrent.CompletableFuture;

/// A broadcast on its way to one child, or its confirmation on its way to a parent; or, with a result, from the
/// program to the loop.
final class BroadcastSend extends PendingSend {

    final CompletableFuture<BroadcastResult> result;
    private final Broadcast.Key key;
    // where the bytes are, or will be, if there is no handle
    private final Broadcast landing;

    private BroadcastSend(
            Frame.Kind kind,
            int tag,
            SendOptions options,
            long bytes,
            SealedBuffer handle,
            Peer peer,
            Broadcast.Key key,
            Broadcast landing,
            CompletableFuture<BroadcastResult> result) {
        super(kind, tag, options, bytes, handle, peer);
        this.key = key;
        this.landing = landing;
        this.result = result;
    }

    /// Of this node's own, to itself: it begins.
    static BroadcastSend begin(int tag, SendOptions options, SealedBuffer handle, Peer self) {
        return new BroadcastSend(
                Frame.Kind.BROADCAST,
                tag,
                options,
                handle.byteSize(),
                handle,
                self,
                null,
                null,
                new CompletableFuture<>());
    }

    /// Of bytes that are all here.
    static BroadcastSend whole(Broadcast of, SealedBuffer handle, Peer child) {
        return new BroadcastSend(
                Frame.Kind.BROADCAST, of.tag, of.options, handle.byteSize(), handle, child, of.key, null, null);
    }

    /// Of bytes that are still landing.
    static BroadcastSend landing(Broadcast of, Peer child) {
        return new BroadcastSend(Frame.Kind.BROADCAST, of.tag, of.options, of.total, null, child, of.key, of, null);
    }

    /// Of the confirmation.
    static BroadcastSend done(Broadcast.Key key, int reached, SealedBuffer failed, Peer parent) {
        return new BroadcastSend(
                Frame.Kind.CONFIRM, reached, SendOptions.DEFAULT, failed.byteSize(), failed, parent, key, null, null);
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
        return landing == null ? super.piece(fragment) : landing.piece(offset, fragment);
    }
}
