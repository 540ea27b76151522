// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.net;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import io.netty.channel.ManualIoEventLoop;
import io.netty.util.concurrent.Ticker;
import java.util.concurrent.TimeUnit;

/// A node's event loop: it runs when the world says, and its clock is the node's.
public final class SimLoop extends ManualIoEventLoop {

    private final SimProcess node;

    /// Wakes the node up when a thread that is not the world's has a task for it.
    public SimLoop(Thread world, SimProcess node) {
        super(null, world, executor -> new NoIo(node), new Clock(node));
        this.node = node;
    }

    SimProcess node() {
        return node;
    }

    /// @return on the node's clock, or -1 if nothing is scheduled
    public long nextDeadline() {
        return nextScheduledTaskDeadlineNanos();
    }

    private record Clock(SimProcess node) implements Ticker {

        @Override
        public long initialNanoTime() {
            return 0;
        }

        @Override
        public long nanoTime() {
            return node.clock();
        }

        @Override
        public void sleep(long delay, TimeUnit unit) {
            throw new UnsupportedOperationException("an event loop does not sleep here");
        }
    }

    private record NoIo(SimProcess node) implements IoHandler {

        @Override
        public int run(IoHandlerContext context) {
            return 0;
        }

        @Override
        public IoRegistration register(IoHandle handle) {
            throw new UnsupportedOperationException("channels here need no handle");
        }

        @Override
        public void wakeup() {
            node.poke();
        }

        @Override
        public boolean isCompatible(Class<? extends IoHandle> type) {
            return false;
        }
    }
}
