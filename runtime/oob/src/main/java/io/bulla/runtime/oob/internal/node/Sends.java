// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.node;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.BroadcastResult;
import io.bulla.runtime.oob.Send;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.internal.broadcast.OwnBroadcast;
import io.bulla.runtime.oob.internal.core.Settings;
import io.bulla.runtime.oob.internal.peer.Peer;
import io.bulla.runtime.oob.internal.peer.RoomWait;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.io.IOException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;

/// Begins the sends of the program: each takes its handle and its room, and goes to the loop. Any thread.
public final class Sends {

    private final NodeLoop node;
    private final Settings settings;
    private final IntFunction<Peer> peers;
    private final BooleanSupplier isClosing;
    private final RoomWait roomWait;

    /// @param peers a peer by its rank, if there is one
    /// @param isClosing whether what begins from now on is too late
    public Sends(NodeLoop node, IntFunction<Peer> peers, BooleanSupplier isClosing) {
        this.node = node;
        this.settings = node.context().settings();
        this.peers = peers;
        this.isClosing = isClosing;
        this.roomWait = new RoomWait(node.context(), node.handlerExecutor(), isClosing);
    }

    /// @return a send that has failed if there is no room
    public Send send(int peer, int tag, SealedBuffer buffer, SendOptions options) {
        PendingSend send = prepare(peer, tag, buffer, options);
        String full = send.peer.quota().tryTake(send.bytes);
        if (full == null) {
            send.hasRoom = true;
            start(send);
        } else {
            refuse(send);
            send.fail(node.context()
                    .failures()
                    .queueFull(full + " rank=" + settings.rank() + " peer=" + peer + " tag=" + tag + " bytes="
                            + send.bytes));
        }
        return send;
    }

    /// @return nothing if there is no room
    public Optional<Send> trySend(int peer, int tag, SealedBuffer buffer, SendOptions options) {
        PendingSend send = prepare(peer, tag, buffer, options);
        if (send.peer.quota().tryTake(send.bytes) != null) {
            refuse(send);
            return Optional.empty();
        }
        send.hasRoom = true;
        start(send);
        return Optional.of(send);
    }

    /// Waits for room.
    ///
    /// @throws IllegalStateException if the caller is who makes it
    public Send sendBlocking(int peer, int tag, SealedBuffer buffer, SendOptions options)
            throws InterruptedException, TimeoutException {
        roomWait.checkCaller(peer);
        PendingSend send = prepare(peer, tag, buffer, options);
        boolean goesOn = false;
        try {
            roomWait.take(send);
            goesOn = true;
        } finally {
            if (!goesOn) {
                refuse(send);
            }
        }
        start(send);
        return send;
    }

    /// @return a stage that has failed if there is no room, or it cannot be signed
    public CompletionStage<BroadcastResult> broadcast(int tag, SendOptions options, SealedBuffer buffer) {
        checkSize(buffer);
        try {
            OwnBroadcast own = node.ownBroadcasts().make(tag, options, buffer);
            start(own);
            return own.result;
        } catch (IOException noRoomOrSignature) {
            return CompletableFuture.failedFuture(noRoomOrSignature);
        }
    }

    private PendingSend prepare(int peer, int tag, SealedBuffer buffer, SendOptions options) {
        Objects.requireNonNull(options, "options");
        Peer to = peers.apply(peer);
        checkSize(buffer);
        SealedBuffer handle = buffer.share(to.tagOfSends());
        return new PendingSend(Frame.Kind.DIRECT, tag, options, handle.byteSize(), handle, to);
    }

    private void checkSize(SealedBuffer buffer) {
        long bytes = buffer.byteSize();
        if (bytes > settings.limit()) {
            throw new IllegalArgumentException(
                    "message over the limit: length=" + bytes + " limit=" + settings.limit());
        }
    }

    /// It has no room, so there is none to give back.
    private static void refuse(PendingSend send) {
        Objects.requireNonNull(send.handle, "handle").close();
        send.handle = null;
    }

    private void start(PendingSend send) {
        if (isClosing.getAsBoolean()) {
            node.intake().fail(send);
        } else if (send.peer.rank() == settings.rank() && send.kind == Frame.Kind.DIRECT) {
            node.sendHere(send);
        } else {
            node.intake().submit(send);
        }
    }
}
