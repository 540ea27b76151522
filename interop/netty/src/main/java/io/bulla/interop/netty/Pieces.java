// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;

/// Writes a message of several pieces, and completes its promise by the outcome of all of them. On the event loop.
///
/// ```
/// writing --all accepted--> success
///         --one failed, no other was handed on--> failure; the channel stays, for nothing of the message went out
///         --one failed behind or before others--> failure; the channel is closed, for its stream has a hole
/// ```
final class Pieces {

    private static final Logger LOG = System.getLogger(Pieces.class.getPackageName());

    private final Channel channel;
    private final ChannelPromise promise;
    private final List<MessagePiece> pieces;
    private int handedOn;
    private int accepted;
    private boolean failed;

    Pieces(Channel channel, ChannelPromise promise, List<MessagePiece> pieces) {
        this.channel = channel;
        this.promise = promise;
        this.pieces = pieces;
    }

    /// Hands on one piece after the other, up to the first that is refused on the spot.
    void write() {
        // false: cancelled before anything was written
        failed = !promise.setUncancellable();
        try {
            while (!failed && handedOn < pieces.size()) {
                handOn(handedOn);
            }
        } catch (Throwable noHeap) {
            // for a promise, or in Netty
            brokenOff(handedOn, handedOn == 0, noHeap);
        }
        Throwable release = PiecesRelease.of(pieces, handedOn);
        if (release != null) {
            LOG.log(Level.WARNING, "release failed: channel=" + channel, release);
        }
        if (!failed) {
            channel.flush();
        }
    }

    private void handOn(int piece) {
        ChannelPromise each = channel.newPromise();
        each.addListener(done -> ended(piece, done.cause()));
        handedOn++;
        channel.write(pieces.get(piece), each);
        if (each.isDone() && !each.isSuccess()) {
            // a listener may run later, when this is called from within others
            ended(piece, each.cause());
        }
    }

    private void ended(int piece, Throwable failure) {
        if (failure != null) {
            brokenOff(piece, handedOn == 1, failure);
        } else if (!failed && ++accepted == pieces.size()) {
            promise.setSuccess();
        }
    }

    /// @param nothingIsOut the channel stays then
    private void brokenOff(int piece, boolean nothingIsOut, Throwable failure) {
        if (failed) {
            return;
        }
        failed = true;
        if (nothingIsOut) {
            promise.setFailure(failure);
            return;
        }
        try {
            // past the handlers: one that flushes before it closes, as TLS does, would send what is behind the hole;
            // with a promise that takes no heap
            channel.unsafe().close(channel.voidPromise());
        } finally {
            promise.setFailure(words(piece, failure));
        }
    }

    private Throwable words(int piece, Throwable failure) {
        try {
            return new IOException(
                    "message broken off, its channel is closed: piece=" + piece + " pieces=" + pieces.size()
                            + " accepted=" + accepted,
                    failure);
        } catch (OutOfMemoryError noHeap) {
            return failure;
        }
    }
}
