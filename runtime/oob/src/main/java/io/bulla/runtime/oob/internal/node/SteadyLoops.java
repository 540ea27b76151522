// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.node;

import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Trouble;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/// The event loop of a node's own. It goes on whatever is thrown: Netty's ends when a failure cannot be logged, as
/// while the heap is full, and with it the node.
public final class SteadyLoops extends MultiThreadIoEventLoopGroup {

    private static final long TASKS_NANOS = TimeUnit.SECONDS.toNanos(1);

    public SteadyLoops(IoHandlerFactory factory) {
        super(1, factory);
    }

    @Override
    protected IoEventLoop newChild(Executor executor, IoHandlerFactory factory, Object... none) {
        return new Steady(this, executor, factory);
    }

    private static final class Steady extends SingleThreadIoEventLoop {

        Steady(SteadyLoops parent, Executor executor, IoHandlerFactory factory) {
            super(parent, executor, factory);
        }

        /// As Netty's, but for the failures. A task is taken from the queue before it runs, so none comes twice.
        @Override
        protected void run() {
            ioHandler().initialize();
            for (boolean over = false; !over; ) {
                try {
                    runIo();
                    if (isShuttingDown()) {
                        ioHandler().prepareToDestroy();
                    }
                    runAllTasks(TASKS_NANOS);
                    over = confirmShutdown() || canSuspend();
                } catch (Throwable failure) {
                    NodeLog.failed(Trouble.LOOP_GOES_ON, failure);
                }
            }
        }
    }
}
