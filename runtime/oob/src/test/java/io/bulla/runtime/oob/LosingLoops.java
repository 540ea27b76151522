// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.RejectedExecutionHandlers;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;

/// An event loop that loses a task, as Netty's does one that comes in while it ends: behind the last look at the
/// tasks, and before those that came later are thrown away.
final class LosingLoops extends MultiThreadIoEventLoopGroup {

    LosingLoops() {
        super(1, NioIoHandler.newFactory());
    }

    @Override
    protected IoEventLoop newChild(Executor executor, IoHandlerFactory factory, Object... none) {
        Moments moments = new Moments();
        return new Losing(
                this, executor, own -> new Handler(factory.newHandler(own), moments), new Tasks(moments), moments);
    }

    /// The next task of the caller's thread is lost.
    void loseNext() {
        loop().tasks.loses.set(true);
    }

    /// Waits until the task is on its way.
    void awaitTask() throws InterruptedException {
        loop().moments.comes.await();
    }

    private Losing loop() {
        return (Losing) next();
    }

    private static final class Moments {
        private final CountDownLatch comes = new CountDownLatch(1);
        private final CountDownLatch ends = new CountDownLatch(1);
        private final CountDownLatch isIn = new CountDownLatch(1);
        private final CountDownLatch isLost = new CountDownLatch(1);

        static void await(CountDownLatch moment) {
            try {
                moment.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static final class Losing extends SingleThreadIoEventLoop {

        private final Tasks tasks;
        private final Moments moments;

        Losing(LosingLoops parent, Executor executor, IoHandlerFactory factory, Tasks tasks, Moments moments) {
            super(parent, executor, factory, tasks, new ConcurrentLinkedQueue<>(), RejectedExecutionHandlers.reject());
            this.tasks = tasks;
            this.moments = moments;
        }
    }

    private static final class Tasks extends ConcurrentLinkedQueue<Runnable> {

        private static final long serialVersionUID = 1;

        private final transient Moments moments;
        private final transient ThreadLocal<Boolean> loses = ThreadLocal.withInitial(() -> false);
        // volatile: written by the thread whose task it is, read by the loop
        private transient volatile Runnable lost;

        Tasks(Moments moments) {
            this.moments = moments;
        }

        @Override
        public boolean offer(Runnable task) {
            if (!loses.get()) {
                return super.offer(task);
            }
            moments.comes.countDown();
            Moments.await(moments.ends);
            lost = task;
            super.offer(task);
            moments.isIn.countDown();
            return true;
        }

        @Override
        public Runnable poll() {
            Runnable next = super.poll();
            if (next != null && next == lost) {
                moments.isLost.countDown();
            }
            return next;
        }

        @Override
        public boolean remove(Object task) {
            if (loses.get()) {
                Moments.await(moments.isLost);
            }
            return super.remove(task);
        }
    }

    private record Handler(IoHandler handler, Moments moments) implements IoHandler {

        @Override
        public void initialize() {
            handler.initialize();
        }

        @Override
        public int run(IoHandlerContext context) {
            return handler.run(context);
        }

        @Override
        public void prepareToDestroy() {
            handler.prepareToDestroy();
        }

        @Override
        public void destroy() {
            handler.destroy();
            moments.ends.countDown();
            Moments.await(moments.isIn);
        }

        @Override
        public IoRegistration register(IoHandle handle) throws Exception {
            return handler.register(handle);
        }

        @Override
        public void wakeup() {
            handler.wakeup();
        }

        @Override
        public boolean isCompatible(Class<? extends IoHandle> type) {
            return handler.isCompatible(type);
        }
    }
}
