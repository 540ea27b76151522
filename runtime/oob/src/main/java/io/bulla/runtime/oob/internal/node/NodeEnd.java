// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.node;

import io.bulla.runtime.oob.internal.core.Deadlines;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.netty.channel.EventLoopGroup;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// The end of a node, which comes once: of the loop's part, then of the handlers, then of the threads. Any thread.
public final class NodeEnd {

    private static final long END_MILLIS = 5_000;

    private final NodeLoop node;
    private final @Nullable EventLoopGroup ownLoops;
    // volatile: a send that is too late to see it fails on the loop
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    /// @param ownLoops to be shut down with the node, or `null`
    public NodeEnd(NodeLoop node, @Nullable EventLoopGroup ownLoops) {
        this.node = node;
        this.ownLoops = ownLoops;
    }

    /// Whether it has begun.
    public boolean isClosing() {
        return closing.get();
    }

    /// Begins it, and waits for it, but on a thread of the node.
    ///
    /// @param drain time for what is on its way
    public void close(Duration drain) {
        if (closing.compareAndSet(false, true)) {
            end(node.close(Deadlines.nanos(drain)));
        }
        if (!node.isRunningHere()) {
            closed.join();
        }
    }

    /// As if the process had been killed: peers hear nothing. For tests.
    public void abort() {
        closing.set(true);
        end(node.abort().thenCompose(done -> node.close(0)));
        closed.join();
    }

    /// Once the loop's part is closed: handlers, then the threads.
    private void end(CompletableFuture<Void> loopIsClosed) {
        loopIsClosed
                .thenCompose(done -> {
                    // first, for a handler may wait for a check
                    CompletableFuture<Void> checked =
                            node.broadcasts().origins().close().toCompletableFuture();
                    node.handlerExecutor().close();
                    CompletableFuture<Void> handled =
                            node.handlerExecutor().ended().toCompletableFuture();
                    return node.soon(CompletableFuture.allOf(handled, checked), END_MILLIS);
                })
                .whenComplete((done, failure) -> {
                    try {
                        node.handlers().close();
                    } catch (Throwable noMemory) {
                        NodeLog.failed(
                                "handlers were not ended",
                                node.context().settings().rank(),
                                noMemory);
                    }
                    endThreads();
                });
    }

    /// Last: who waits for the end goes on, whatever fails.
    private void endThreads() {
        boolean willBeTold = false;
        try {
            if (ownLoops != null) {
                ownLoops.shutdownGracefully(0, 5, TimeUnit.SECONDS).addListener(down -> closed.complete(null));
                willBeTold = true;
            }
        } finally {
            if (!willBeTold) {
                closed.complete(null);
            }
        }
    }
}
