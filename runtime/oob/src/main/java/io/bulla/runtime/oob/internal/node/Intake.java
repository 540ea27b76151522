// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.node;

import io.bulla.buffer.internal.IntrusiveStack;
import io.bulla.runtime.oob.internal.broadcast.Broadcasts;
import io.bulla.runtime.oob.internal.broadcast.OwnBroadcast;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Trouble;
import io.bulla.runtime.oob.internal.session.PendingSend;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/// Where sends come in from all threads: the loop takes them, queues each at its peer, and pumps the peers that got
/// one.
///
/// One event loop's, but for [#submit], [#fail] and [#failLate].
public final class Intake implements OwnBroadcast.Start {

    private static final class PendingSends extends IntrusiveStack<PendingSend> {
        @Override
        protected @Nullable PendingSend next(PendingSend send) {
            return send.next;
        }

        @Override
        protected void link(PendingSend send, @Nullable PendingSend next) {
            send.next = next;
        }
    }

    private final LoopContext context;
    private final Broadcasts broadcasts;
    private final Runnable drain = this::drain;
    private final List<PendingSend.Owner> dirty = new ArrayList<>();
    private final PendingSends queue = new PendingSends();
    // of this node's own, until the cut is over, or until this listens
    // links: an add that finds no heap leaves the others
    private final Queue<OwnBroadcast> waiting = new LinkedList<>();
    private boolean waits;

    Intake(LoopContext context, Broadcasts broadcasts) {
        this.context = context;
        this.broadcasts = broadcasts;
    }

    /// Queues a send, which has its quota. Any thread.
    public void submit(PendingSend send) {
        if (queue.put(send)) {
            try {
                context.onLoop(drain);
            } catch (Throwable noMemory) {
                // it is queued: the next tick drains
                NodeLog.failed(Trouble.LOOP_NOT_WOKEN, context.rank(), noMemory);
            }
        }
    }

    /// Fails what came too late. Any thread.
    void failLate() {
        for (PendingSend send = queue.takeInOrder(); send != null; ) {
            PendingSend next = send.next;
            send.next = null;
            try {
                fail(send);
            } catch (Throwable failure) {
                NodeLog.failed(Trouble.SEND_NOT_ENDED, context.rank(), send.tag, failure);
            }
            send = next;
        }
    }

    /// Fails one for which this node closes too early. Any thread.
    public void fail(PendingSend send) {
        send.release();
        send.fail(context.failures().peerFailed(send.peer.rank(), "this node is closed"));
    }

    void drain() {
        take();
        if (context.isClosed()) {
            return;
        }
        for (int i = 0; i < dirty.size(); i++) {
            try {
                dirty.get(i).pump();
            } catch (Throwable failure) {
                // those behind it go on; it does with its next send or acknowledgement
                NodeLog.failed(
                        Trouble.WRITING_TO_PEER, context.rank(), dirty.get(i).rank(), failure);
            }
        }
        dirty.clear();
    }

    /// Whatever was sent until now is in its lane.
    public void take() {
        if (context.isClosed()) {
            failLate();
            return;
        }
        for (PendingSend send = queue.takeInOrder(); send != null; ) {
            PendingSend next = send.next;
            send.next = null;
            take(send);
            send = next;
        }
    }

    /// Whatever goes wrong with one send ends that one, and no other.
    private void take(PendingSend send) {
        try {
            if (send.isDone()) {
                send.release();
            } else if (send.begin()) {
                dirty.add(send.peer);
            }
        } catch (Throwable failure) {
            send.peer.end(send, failure);
        }
    }

    @Override
    public void begin(OwnBroadcast own) {
        if (waits) {
            waiting.add(own);
        } else {
            broadcasts.begin(own);
        }
    }

    /// Whether broadcasts wait, for a cut is being taken.
    void holdBroadcasts(boolean hold) {
        waits = hold;
    }

    /// Those that wait for the end of a cut, or are from one.
    public Collection<OwnBroadcast> waiting() {
        return waiting;
    }

    /// Those that waited begin.
    public void beginWaiting() {
        for (OwnBroadcast own = waiting.poll(); own != null; own = waiting.poll()) {
            take(own);
        }
    }

    /// It cannot listen: those that waited do not begin.
    void failWaiting() {
        for (OwnBroadcast own = waiting.poll(); own != null; own = waiting.poll()) {
            fail(own);
        }
    }
}
