// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.node;

import io.bulla.runtime.oob.internal.core.Deadlines;
import io.bulla.runtime.oob.internal.core.LoopEnd;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Trouble;
import io.netty.channel.EventLoopGroup;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
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
            begin(() -> node.close(Deadlines.nanos(drain)));
        }
        if (!node.isRunningHere()) {
            await();
        }
    }

    /// As if the process had been killed: peers hear nothing. For tests.
    public void abort() {
        closing.set(true);
        begin(() -> node.abort().thenCompose(done -> node.close(0)));
        await();
    }

    private void await() {
        closed.join();
        if (ownLoops != null) {
            // once more, if there was no memory for it
            endThreads(ownLoops);
            LoopEnd.await(ownLoops);
        }
    }

    /// Once the loop's part is closed: handlers, then the threads. If there is no memory to begin, it can be begun
    /// again.
    private void begin(Supplier<CompletableFuture<Void>> loopCloses) {
        boolean begun = false;
        try {
            loopCloses.get().whenComplete((done, failure) -> endHandlers());
            begun = true;
        } finally {
            if (!begun) {
                closing.set(false);
            }
        }
    }

    private void endHandlers() {
        boolean willGoOn = false;
        try {
            // first, for a handler may wait for a check
            CompletableFuture<Void> checked =
                    node.broadcasts().origins().close().toCompletableFuture();
            node.handlerExecutor().close();
            CompletableFuture<Void> handled = node.handlerExecutor().ended().toCompletableFuture();
            node.soon(CompletableFuture.allOf(handled, checked), END_MILLIS).whenComplete((done, failure) -> endLast());
            willGoOn = true;
        } catch (Throwable noMemory) {
            NodeLog.failed(Trouble.HANDLERS_NOT_WAITED_FOR, rank(), noMemory);
        }
        if (!willGoOn) {
            endLast();
        }
    }

    /// Who waits for the end goes on, whatever fails.
    private void endLast() {
        try {
            node.handlers().close();
        } catch (Throwable noMemory) {
            NodeLog.failed(Trouble.HANDLERS_NOT_ENDED, rank(), noMemory);
        }
        try {
            if (ownLoops != null) {
                endThreads(ownLoops);
            }
        } catch (Throwable noMemory) {
            NodeLog.failed(Trouble.LOOP_NOT_ENDED, rank(), noMemory);
        } finally {
            closed.complete(null);
        }
    }

    private static void endThreads(EventLoopGroup loops) {
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS);
    }

    private int rank() {
        return node.context().rank();
    }
}
