// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.handlers.HandlerExecutor;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.runtime.oob.internal.node.SteadyLoops;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandler;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import java.lang.foreign.Arena;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// No memory for a line of the log, or for anything else at some moment: no message is lost, and no thread ends.
@Timeout(30)
class FullHeapTest {

    private static final int MESSAGES = 1000;

    private final Cluster cluster = new Cluster();
    private final AtomicInteger lines = new AtomicInteger();
    private final Logger node = Logger.getLogger(OobNode.class.getName());
    private final Logger netty = Logger.getLogger("io.netty");
    private final Handler full = new Handler() {
        @Override
        public void publish(LogRecord line) {
            if (line.getLevel().intValue() >= Level.WARNING.intValue()) {
                lines.incrementAndGet();
                throw new OutOfMemoryError("for a line, as told");
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void noMemoryForLines() {
        node.addHandler(full);
        netty.addHandler(full);
    }

    @AfterEach
    void nothingIsLeft() {
        node.removeHandler(full);
        netty.removeHandler(full);
        cluster.close();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(20, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void messagesBehindAFailureThatCannotBeLoggedAreHandled() throws Exception {
        cluster.start(2);
        CountDownLatch all = new CountDownLatch(1);
        Map<Integer, Integer> handled = new TreeMap<>();
        cluster.node(1).receive(7, message -> {
            await(all);
            throw new OutOfMemoryError("in a handler, as told");
        });
        cluster.node(1).receive(8, message -> {
            synchronized (handled) {
                handled.merge(Cluster.number(message.buffer()), 1, Integer::sum);
            }
        });
        cluster.send(0, 1, 7, 0, 10, SendOptions.DEFAULT);
        for (int i = 0; i < MESSAGES; i++) {
            Cluster.delivered(cluster.send(0, 1, 8, i, 10, SendOptions.DEFAULT));
        }
        all.countDown();
        Cluster.await("all are handled", () -> {
            synchronized (handled) {
                return handled.size() == MESSAGES;
            }
        });
        assertEquals(1, lines.get());
        Cluster.await(
                "credit is back", () -> cluster.node(1).stats().stream().allMatch(peer -> peer.waitingBytes() == 0));
    }

    @Test
    void keptMessagesBehindAFailureThatCannotBeLoggedAreHandled() throws Exception {
        cluster.start(2);
        for (int i = 0; i < 10; i++) {
            Cluster.delivered(cluster.send(0, 1, 8, i, 10, SendOptions.DEFAULT));
        }
        AtomicInteger handled = new AtomicInteger();
        cluster.node(1).receive(8, message -> {
            handled.incrementAndGet();
            throw new OutOfMemoryError("in a handler, as told");
        });
        Cluster.await("all are handled", () -> handled.get() == 10);
    }

    /// Room for what is kept, or for its tag, that is not there at once.
    @Test
    void itemThatCouldNotBeTakenIsTriedAgainBeforeThoseBehindIt() throws Exception {
        HandlerExecutor thread = new HandlerExecutor("test", 0, Environment.MACHINE.threads());
        StringBuffer order = new StringBuffer();
        AtomicInteger dropped = new AtomicInteger();
        for (int i = 0; i < 3; i++) {
            int number = i;
            thread.put(new HandlerExecutor.Item() {
                private boolean begun;

                @Override
                public boolean isBegun() {
                    return begun;
                }

                @Override
                public void run() {
                    if (number == 1 && order.length() < 2 || number == 2 && dropped.get() == 0) {
                        order.append('-');
                        throw new OutOfMemoryError("before it began, as told");
                    }
                    begun = true;
                    order.append(number);
                }

                @Override
                public void drop() {
                    dropped.incrementAndGet();
                }
            });
        }
        Cluster.await("tried again", () -> {
            thread.tick();
            return order.toString().startsWith("0-1-");
        });
        thread.close();
        thread.ended().toCompletableFuture().get(20, TimeUnit.SECONDS);
        assertEquals(1, dropped.get(), order.toString());
    }

    @Test
    void itemThatCouldNotBeTakenWhileItsThreadClosesIsDropped() throws Exception {
        HandlerExecutor thread = new HandlerExecutor("test", 0, Environment.MACHINE.threads());
        AtomicInteger dropped = new AtomicInteger();
        thread.put(new HandlerExecutor.Item() {
            @Override
            public boolean isBegun() {
                return false;
            }

            @Override
            public void run() {
                thread.close();
                throw new OutOfMemoryError("before it began, as told");
            }

            @Override
            public void drop() {
                dropped.incrementAndGet();
            }
        });
        thread.ended().toCompletableFuture().get(20, TimeUnit.SECONDS);
        assertEquals(1, dropped.get());
    }

    @Test
    void loopGoesOnAfterATaskWhoseFailureCannotBeLogged() throws Exception {
        AtomicBoolean thrown = new AtomicBoolean();
        EventLoopGroup loops = new SteadyLoops(executor -> {
            IoHandler io = Transport.NIO.restingLoops().newHandler(executor);
            return (IoHandler) Proxy.newProxyInstance(
                    IoHandler.class.getClassLoader(), new Class<?>[] {IoHandler.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("run") && thrown.compareAndSet(false, true)) {
                            throw new OutOfMemoryError("in the loop, as told");
                        }
                        return method.invoke(io, arguments);
                    });
        });
        try {
            assertEquals("runs", loops.next().submit(() -> "runs").get(20, TimeUnit.SECONDS));
            assertTrue(thrown.get());
            assertFalse(((SingleThreadEventExecutor) loops.next()).isShuttingDown(), "the loop ends");
        } finally {
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void sendsBehindOneThatFailsInTheLoopGoOn() throws Exception {
        cluster.start(2, setup -> setup.coalesceBelow(0));
        try (SealedBuffer bad = SealedBuffer.adopt(Arena.ofAuto().allocate(100_000), () -> {
            throw new OutOfMemoryError("in a release, as told");
        })) {
            cluster.node(0).send(1, 9, bad);
        }
        for (int i = 0; i < 100; i++) {
            Cluster.delivered(cluster.send(0, 1, i, 10));
        }
    }
}
