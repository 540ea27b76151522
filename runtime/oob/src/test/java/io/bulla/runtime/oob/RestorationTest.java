// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.cut.LiveCut;
import io.bulla.runtime.oob.cut.NodeCut;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A node takes over what a cut has, and gives it back if it cannot start.
class RestorationTest {

    private static final Duration LONG = Duration.ofMinutes(5);

    private final Cluster cluster = new Cluster();

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
    }

    private static <T> T done(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    private CompletionStage<BroadcastResult> broadcast(int number) {
        try (SealedBuffer message = cluster.numbered(number, 100)) {
            return cluster.node(0).broadcast(Cluster.TAG, message);
        }
    }

    /// Of the first of two nodes, which has two broadcasts that have not begun.
    private NodeCut cutWithBroadcasts() throws Exception {
        cluster.start(2);
        LiveCut live = cluster.node(0).liveCut(LONG);
        done(live.ready());
        CompletionStage<BroadcastResult> first = broadcast(1);
        CompletionStage<BroadcastResult> second = broadcast(2);
        NodeCut cut = done(live.take(() -> {}));
        live.end();
        done(first);
        done(second);
        assertEquals(2, cut.broadcasts().size());
        return cut;
    }

    /// Its loop cannot take a task that comes again and again, as when memory runs out.
    private static final class WithoutTimers extends MultiThreadIoEventLoopGroup {

        WithoutTimers() {
            super(1, NioIoHandler.newFactory());
        }

        @Override
        protected IoEventLoop newChild(Executor executor, IoHandlerFactory handlers, Object... others) {
            return new SingleThreadIoEventLoop(this, executor, handlers) {
                @Override
                public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long first, long delay, TimeUnit unit) {
                    throw new IllegalStateException("no timer, on purpose");
                }
            };
        }
    }

    @Test
    void broadcastsOfANodeThatCannotListenAreGivenBack() throws Exception {
        WithoutTimers loops = new WithoutTimers();
        try (NodeCut cut = cutWithBroadcasts()) {
            cluster.nodes.forEach(OobNode::close);
            Cluster.await("the cut's handles alone are open", () -> cluster.handles.open() == 2);
            assertEquals(
                    "no timer, on purpose",
                    assertThrows(
                                    IllegalStateException.class,
                                    () -> cluster.replace(
                                            0, 2, setup -> setup.restore(cut).loops(loops)))
                            .getMessage());
            // whatever was handed to the loop is over
            done(java.util.concurrent.CompletableFuture.runAsync(() -> {}, loops.next()));
            Cluster.await("nothing is held for the node", () -> cluster.handles.open() == 2);
        } finally {
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    @Test
    void broadcastsOfACutAreSentOnce() throws Exception {
        try (NodeCut cut = cutWithBroadcasts()) {
            cluster.nodes.forEach(OobNode::close);
            cluster.got.clear();
            cluster.replace(1, 2, setup -> setup);
            cluster.replace(0, 2, setup -> setup.restore(cut));
            assertEquals("1 from 0: 1", cluster.got.poll(20, TimeUnit.SECONDS));
            assertEquals("1 from 0: 2", cluster.got.poll(20, TimeUnit.SECONDS));
        }
    }
}
