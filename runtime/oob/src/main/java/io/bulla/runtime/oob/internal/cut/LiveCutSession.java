// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.cut;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.cut.LiveCut;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.broadcast.SignedBytes;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Trouble;
import io.bulla.runtime.oob.internal.node.CutGate;
import io.bulla.runtime.oob.internal.node.HandleSet;
import io.bulla.runtime.oob.internal.node.NodeLoop;
import io.bulla.runtime.oob.internal.peer.Peer;
import io.bulla.runtime.oob.internal.session.PendingSend;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The messages that a node holds back around a cut while it goes on.
///
/// ```
/// broadcasts wait --none on its way--> ready --take--> numbers and acknowledgements wait --end--> over
///       |                                |                          |
///       +--------------------------------+--- time, a verdict, the node closes ---> over, failed
/// ```
///
/// One event loop's, but for the calls from outside.
public final class LiveCutSession implements LiveCut, CutGate {

    private static final long LOOK_MILLIS = 2;

    private final NodeLoop nodeLoop;
    private final Cuts cuts;
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private @Nullable Future<?> deadline;
    private boolean taken;

    private LiveCutSession(NodeLoop nodeLoop, Cuts cuts) {
        this.nodeLoop = nodeLoop;
        this.cuts = cuts;
    }

    /// Any thread.
    public static LiveCutSession begin(NodeLoop nodeLoop, Cuts cuts, long nanos) {
        LiveCutSession hold = new LiveCutSession(nodeLoop, cuts);
        hold.over.whenComplete((ended, failure) -> {
            if (!hold.ready.isDone()) {
                hold.ready.completeExceptionally(failure != null ? failure : hold.wrong("cut is over"));
            }
        });
        hold.onLoop(() -> hold.begin(nanos));
        return hold;
    }

    private void begin(long nanos) {
        if (nodeLoop.context().isClosed() || nodeLoop.hold() != null) {
            over.completeExceptionally(
                    wrong(nodeLoop.context().isClosed() ? "node is closed" : "another cut is being taken"));
            return;
        }
        if (over.isDone()) {
            return;
        }
        try {
            String late = "cut was not ended in time: millis=" + nanos / 1_000_000;
            deadline = nodeLoop.eventLoop().schedule(() -> end(wrong(late)), nanos, TimeUnit.NANOSECONDS);
            nodeLoop.hold(this);
            look();
        } catch (Throwable noMemory) {
            end(new IllegalStateException(
                    "cut cannot begin: rank=" + nodeLoop.context().settings().rank(), noMemory));
        }
    }

    private void look() {
        if (over.isDone()) {
            return;
        }
        if (nodeLoop.broadcasts().isDrained()) {
            ready.complete(null);
        } else {
            nodeLoop.eventLoop().schedule(this::look, LOOK_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public CompletionStage<Void> ready() {
        return ready.minimalCompletionStage();
    }

    @Override
    public CompletionStage<Void> over() {
        return over.minimalCompletionStage();
    }

    @Override
    public CompletionStage<NodeCut> take(Runnable between) {
        return cuts.take(Objects.requireNonNull(between, "between"), this);
    }

    @Override
    public void end() {
        onLoop(() -> end(null));
    }

    /// Any thread.
    private void onLoop(Runnable task) {
        nodeLoop.context().onLoop(task, () -> over.completeExceptionally(wrong("node is closed")));
    }

    @Override
    public void checkRuns() {
        if (nodeLoop.hold() != this || taken) {
            throw wrong(nodeLoop.hold() == this ? "cut was taken" : "cut is over");
        }
    }

    @Override
    public List<Message> kept(HandleSet shares) {
        List<Message> kept = new ArrayList<>();
        for (PendingSend own : nodeLoop.intake().waiting()) {
            if (!own.isDone() && own.handle != null) {
                SealedBuffer bytes = own.isSigned() ? unsigned(own.handle, shares) : shares.of(own.handle, null);
                kept.add(new Message(nodeLoop.context().settings().rank(), own.tag, own.options.format(), bytes));
            }
        }
        return kept;
    }

    /// The signature is in the name of this life: who goes on signs again.
    private static SealedBuffer unsigned(SealedBuffer signed, HandleSet shares) {
        try (SealedBuffer bytes = SignedBytes.bytes(signed, SignedBytes.signature(signed).length)) {
            return shares.of(bytes, null);
        } catch (IOException notSigned) {
            throw new UncheckedIOException(notSigned);
        }
    }

    @Override
    public boolean isTaken() {
        return taken;
    }

    @Override
    public void taken() {
        taken = true;
        nodeLoop.peers().all().forEach(peer -> peer.session().hold());
    }

    @Override
    public void fail(String why) {
        end(new IllegalStateException(why));
    }

    private void end(@Nullable IllegalStateException why) {
        if (nodeLoop.hold() == this) {
            nodeLoop.hold(null);
            goOn();
        }
        if (why == null) {
            over.complete(null);
        } else {
            over.completeExceptionally(why);
        }
    }

    /// Whatever goes wrong with one peer or broadcast costs no other anything.
    private void goOn() {
        if (deadline != null) {
            deadline.cancel(false);
        }
        for (Peer peer : nodeLoop.peers().all()) {
            try {
                peer.goOn();
            } catch (Throwable failure) {
                NodeLog.failed(Trouble.END_OF_CUT, nodeLoop.context().settings().rank(), peer.rank(), failure);
            }
        }
        nodeLoop.intake().beginWaiting();
    }

    private IllegalStateException wrong(String what) {
        return new IllegalStateException(
                what + ": rank=" + nodeLoop.context().settings().rank());
    }
}
