// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.machine;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Input and output of an event loop that has descriptors only while the loop has channels. With the last
/// channel the selector is closed; until the next channel comes the loop runs its tasks and
/// parks in between.
///
/// ```
/// awake --last channel is gone--> resting --register--> awake
/// ```
///
/// Called on the loop, but for `wakeup` and `isCompatible`.
///
/// Ordering: **no task is slept over.** A task is in the queue before `wakeup` reads [#awake]; the loop
/// writes [#awake] before it looks into the queue and parks. So the loop sees the task, or `wakeup` sees
/// that it rests.
public final class IdleReleasingIoHandler implements IoHandler {

    private final IoHandlerFactory factory;
    private final ThreadAwareExecutor executor;
    // answers what it is compatible with, for all that come after it
    private final IoHandler first;
    // volatile: the claim above; null while it rests
    private volatile @Nullable IoHandler awake;
    // volatile: written before the loop first rests
    private volatile @Nullable Thread thread;
    private final Runnable rest = this::rest;
    private int channels;

    public IdleReleasingIoHandler(IoHandlerFactory factory, ThreadAwareExecutor executor) {
        this.factory = factory;
        this.executor = executor;
        this.first = factory.newHandler(executor);
        this.awake = first;
    }

    @Override
    public void initialize() {
        thread = Thread.currentThread();
        first.initialize();
    }

    @Override
    public int run(IoHandlerContext context) {
        IoHandler io = awake;
        if (io != null) {
            return io.run(context);
        }
        if (context.canBlock()) {
            LockSupport.parkNanos(this, context.delayNanos(Environment.MACHINE.now()));
            // a loop cannot be interrupted; it would not park any more
            Thread.interrupted();
        }
        return 0;
    }

    /// Makes what it needs for the first channel.
    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        IoHandler io = awake();
        try {
            Counted channel = new Counted();
            channel.made = io.register(handle);
            channels++;
            return channel;
        } finally {
            restIfIdle();
        }
    }

    private IoHandler awake() {
        IoHandler io = awake;
        if (io != null) {
            return io;
        }
        IoHandler fresh = factory.newHandler(executor);
        try {
            fresh.initialize();
            awake = fresh;
            return fresh;
        } finally {
            if (awake == null) {
                fresh.destroy();
            }
        }
    }

    private void restIfIdle() {
        if (channels == 0) {
            try {
                // not below the call of a handler that is about to be closed
                executor.execute(rest);
            } catch (RejectedExecutionException loopIsDown) {
                // it is destroyed next
            }
        }
    }

    private void rest() {
        IoHandler io = awake;
        if (channels == 0 && io != null) {
            awake = null;
            io.prepareToDestroy();
            io.destroy();
        }
    }

    @Override
    public void prepareToDestroy() {
        IoHandler io = awake;
        if (io != null) {
            io.prepareToDestroy();
        }
    }

    @Override
    public void destroy() {
        IoHandler io = awake;
        if (io != null) {
            io.destroy();
        }
    }

    /// Any thread.
    @Override
    public void wakeup() {
        IoHandler io = awake;
        if (io != null) {
            io.wakeup();
        } else {
            LockSupport.unpark(thread);
        }
    }

    /// Any thread.
    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return first.isCompatible(handleType);
    }

    /// One channel that is counted until it goes.
    private final class Counted implements IoRegistration {

        private @Nullable IoRegistration made;

        private IoRegistration made() {
            return Objects.requireNonNull(made, "made");
        }

        @Override
        public <T> T attachment() {
            return made().attachment();
        }

        @Override
        public long submit(IoOps ops) {
            return made().submit(ops);
        }

        @Override
        public boolean isValid() {
            return made().isValid();
        }

        @Override
        public boolean cancel() {
            if (!made().cancel()) {
                return false;
            }
            channels--;
            restIfIdle();
            return true;
        }
    }
}
