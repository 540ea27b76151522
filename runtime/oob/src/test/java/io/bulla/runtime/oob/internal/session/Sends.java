// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.session;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.internal.flow.SendQuota;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.util.ArrayList;
import java.util.List;

/// Makes sends, and is the peer they go to: it notes what becomes of them.
final class Sends implements PendingSend.Owner {

    static final int RANK = 3;
    static final int SELF = 7;
    static final int FRAGMENT = 1 << 16;

    final SendQuota quota = SendQuota.ofAll(100, 1 << 20).ofPeer(50, 1 << 19);
    final List<PendingSend> completed = new ArrayList<>();
    final List<SealedBuffer> closed = new ArrayList<>();
    long now = 1000;
    boolean wasNoted;
    private long order;

    PendingSend send(int tag, long bytes) {
        return send(Frame.Kind.DIRECT, tag, bytes, 0);
    }

    PendingSend deep(int depth) {
        return send(Frame.Kind.BROADCAST, 1, 0, depth);
    }

    PendingSend send(Frame.Kind kind, int tag, long bytes, int depth) {
        return queued(new PendingSend(kind, tag, SendOptions.DEFAULT, bytes, null, this), depth);
    }

    PendingSend holding(Frame.Kind kind, SealedBuffer handle) {
        return queued(new PendingSend(kind, 1, SendOptions.DEFAULT, handle.byteSize(), handle, this), 0);
    }

    /// One of which nothing can be written yet.
    PendingSend notReady(int depth) {
        return queued(
                new PendingSend(Frame.Kind.BROADCAST, 1, SendOptions.DEFAULT, 0, null, this) {
                    @Override
                    public boolean isReady(int fragment) {
                        return false;
                    }
                },
                depth);
    }

    private PendingSend queued(PendingSend send, int depth) {
        send.order = order++;
        send.depth = (byte) depth;
        return send;
    }

    @Override
    public int rank() {
        return RANK;
    }

    @Override
    public int self() {
        return SELF;
    }

    @Override
    public long now() {
        return now;
    }

    @Override
    public SendQuota quota() {
        return quota;
    }

    @Override
    public boolean enqueue(PendingSend send) {
        return !wasNoted;
    }

    @Override
    public void pump() {
        throw new AssertionError("nothing is written here");
    }

    @Override
    public void forget(PendingSend send) {
        throw new AssertionError("of the loop alone");
    }

    @Override
    public void end(PendingSend send, Throwable failure) {
        throw new AssertionError("of the loop alone");
    }

    @Override
    public void onCompleted(PendingSend send) {
        completed.add(send);
    }

    @Override
    public void close(SealedBuffer handle) {
        closed.add(handle);
        handle.close();
    }
}
