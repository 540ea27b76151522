// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.MessageHandler;
import io.bulla.runtime.oob.internal.flow.Credit;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.testkit.NoOpenHandles;
import java.lang.foreign.Arena;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// The way of a message to its handler: this test is the event loop, whose tasks it runs when it likes.
@ExtendWith(NoOpenHandles.class)
class DispatchTest {

    private static final int TAG = 5;
    private static final long PATIENCE_SECONDS = 60;

    private final ArenaSource source = ArenaSource.create();
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final HandlerExecutor thread = new HandlerExecutor("test", 0, Environment.MACHINE.threads());
    private final LoopHandlers onLoop = new LoopHandlers(
            0,
            (task, whenDown) -> tasks.add(task),
            new Environment(System::nanoTime, () -> 1, Environment.MACHINE.threads()),
            TimeUnit.DAYS.toNanos(1));

    private final Handlers handlers =
            new Handlers(0, 1 << 20, source, thread, onLoop, new ThrowingFailures(OutOfMemoryError::new));

    private final BlockingQueue<String> handled = new LinkedBlockingQueue<>();
    private final AtomicInteger consumed = new AtomicInteger();
    private final AtomicInteger released = new AtomicInteger();
    private final Incoming.Sender sender = new Incoming.Sender() {
        @Override
        public Object tag() {
            return "sender";
        }

        @Override
        public void consumed(Credit credit, long charge) {
            consumed.incrementAndGet();
        }

        @Override
        public void handledOwn(long bytes) {
            released.incrementAndGet();
        }
    };

    private Message message(int number) {
        return new Message(
                1,
                TAG,
                Optional.empty(),
                BufferBuilder.create(source).putInt(number).seal());
    }

    private MessageHandler writes(String name) {
        return message -> handled.add(name + message.buffer().iovec().getInt(0));
    }

    private void arrives(int number) {
        handlers.dispatch(message(number), sender, 1, new Credit(1 << 20));
    }

    private void awaitHandled(String... names) throws InterruptedException {
        for (String name : names) {
            String next = handled.poll();
            for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
                    next == null && System.nanoTime() < end; ) {
                runTasks();
                next = handled.poll(1, TimeUnit.MILLISECONDS);
            }
            assertEquals(name, next);
        }
    }

    private void runTasks() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }

    @AfterEach
    void end() throws InterruptedException {
        handlers.endTurn();
        thread.close();
        while (!thread.ended().toCompletableFuture().isDone()) {
            runTasks();
            Thread.sleep(1);
        }
        handlers.close();
        onLoop.stopWatching();
        source.close();
    }

    @Test
    void messagesOfATurnAreHandledInOrderWhenItIsOver() throws Exception {
        handlers.receive(TAG, writes("a"));
        arrives(1);
        arrives(2);
        assertEquals(1, tasks.size(), "a task ends the turn");
        handlers.endTurn();
        awaitHandled("a1", "a2");
        arrives(3);
        runTasks();
        awaitHandled("a3");
        while (consumed.get() < 3) {
            Thread.onSpinWait();
        }
        assertEquals(3, consumed.get());
    }

    @Test
    void longMessageThatLandsEndsTheTurnOfAShortOne() throws Exception {
        handlers.receive(TAG, writes("a"));
        arrives(1);
        handlers.landed(Turn.MOST_BYTES);
        String first = handled.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertEquals("a1", first, "no task has run");
    }

    @Test
    void handlerOnTheLoopRunsAtOnce() {
        handlers.begin(Map.of(TAG, MessageHandler.onLoop(message -> {
            assertTrue(LoopHandlers.isCallingHere());
            writes("loop ").received(message);
        })));
        arrives(1);
        assertEquals("loop 1", handled.poll());
        assertEquals(1, consumed.get());
        assertEquals(0, tasks.size());
        assertTrue(onLoop.of(TAG).isFree());
        assertFalse(onLoop.of(TAG).isRunning());
        assertFalse(LoopHandlers.isCallingHere());
    }

    @Test
    void handlerOnTheLoopWaitsForWhatHasToBeChecked() throws Exception {
        CountDownLatch known = new CountDownLatch(1);
        Incoming.Check check = new Incoming.Check() {
            @Override
            public boolean isGenuine() {
                try {
                    return known.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
                } catch (InterruptedException over) {
                    return false;
                }
            }

            @Override
            public boolean isRefused() {
                return false;
            }
        };
        handlers.begin(Map.of(TAG, MessageHandler.onLoop(writes("loop "))));
        handlers.dispatch(message(1), released::incrementAndGet, check);
        arrives(2);
        handlers.endTurn();
        assertNull(handled.poll(), "the second one is behind the first");
        known.countDown();
        awaitHandled("loop 1", "loop 2");
        while (!onLoop.of(TAG).isFree()) {
            Thread.onSpinWait();
        }
        assertEquals(1, released.get());
        arrives(3);
        assertEquals("loop 3", handled.poll());
        handlers.dispatch(message(4), released::incrementAndGet, null);
        assertEquals("loop 4", handled.poll());
        assertEquals(2, released.get());
    }

    @Test
    void whatIsKeptComesFirstAndThenTheLoopRunsTheHandler() throws Exception {
        arrives(1);
        arrives(2);
        handlers.endTurn();
        while (handlers.kept().size() < 2) {
            Thread.onSpinWait();
        }
        assertEquals(2 * Credit.charge(Integer.BYTES), handlers.unclaimed());
        assertEquals(1, handlers.tags());
        handlers.receive(TAG, MessageHandler.onLoop(writes("loop ")));
        arrives(3);
        handlers.endTurn();
        awaitHandled("loop 1", "loop 2", "loop 3");
        while (!onLoop.of(TAG).isFree()) {
            runTasks();
        }
        arrives(4);
        assertEquals("loop 4", handled.poll());
        assertEquals(0, handlers.unclaimed());
        handlers.stopReceiving(TAG);
        assertEquals(0, handlers.tags());
        assertNull(onLoop.of(TAG));
    }

    @Test
    void restoredMessageComesBeforeWhatArrives() throws Exception {
        handlers.begin(Map.of(TAG, MessageHandler.onLoop(writes("loop "))));
        CountDownLatch blocks = new CountDownLatch(1);
        thread.tell(() -> {
            try {
                blocks.await();
            } catch (InterruptedException over) {
                Thread.currentThread().interrupt();
            }
        });
        handlers.restore(message(1));
        arrives(2);
        handlers.endTurn();
        assertNull(handled.poll(), "it is behind what was restored");
        blocks.countDown();
        awaitHandled("loop 1", "loop 2");
        while (!onLoop.of(TAG).isFree()) {
            Thread.onSpinWait();
        }
        arrives(3);
        assertEquals("loop 3", handled.poll());
    }

    @Test
    void messageToItselfIsHandledOnTheThreadOrOnTheLoop() throws Exception {
        handlers.receive(TAG, writes("thread "));
        handlers.dispatchOwn(message(1), sender);
        awaitHandled("thread 1");
        handlers.receive(TAG, MessageHandler.onLoop(message -> {
            assertTrue(onLoop.of(TAG).isRunning());
            writes("loop ").received(message);
        }));
        handlers.dispatchOwn(message(2), sender);
        awaitHandled("loop 2");
        while (released.get() < 2) {
            runTasks();
        }
        assertEquals(0, consumed.get());
    }

    @Test
    void whoAsksForOneMessageGetsWhatIsKeptOrTheNext() throws Exception {
        assertTrue(handlers.peek(TAG).isEmpty());
        arrives(1);
        handlers.endTurn();
        while (handlers.kept().isEmpty()) {
            Thread.onSpinWait();
        }
        Message seen = handlers.peek(TAG).orElseThrow();
        assertEquals(1, seen.buffer().iovec().getInt(0));
        seen.buffer().close();
        assertEquals(1, handlers.kept().size(), "it stays");
        Message first = handlers.receiveOnce(TAG).toCompletableFuture().get();
        assertEquals(1, first.buffer().iovec().getInt(0));
        first.buffer().close();
        assertEquals(1, consumed.get(), "once");
        CompletableFuture<Message> next = handlers.receiveOnce(TAG).toCompletableFuture();
        assertFalse(next.isDone());
        arrives(2);
        handlers.endTurn();
        Message second = next.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertEquals(2, consumed.get(), "before who waits goes on");
        second.buffer().close();
    }

    @Test
    void messageOverTheBoundGivesItsCreditBackToWhoAsksForIt() throws Exception {
        Handlers none = new Handlers(0, 0, source, thread, onLoop, new ThrowingFailures(OutOfMemoryError::new));
        Incoming kept = new Incoming(message(1), none, sender, new Credit(1 << 20));
        none.deliver(kept);
        assertEquals(0, consumed.get());
        assertSame(kept.message, none.receiveOnce(TAG).toCompletableFuture().get());
        assertEquals(1, consumed.get());
        kept.message.buffer().close();
        CompletableFuture<Message> next = none.receiveOnce(TAG).toCompletableFuture();
        Incoming asked = new Incoming(message(2), none, sender, new Credit(1 << 20));
        none.deliver(asked);
        assertSame(asked.message, next.get());
        assertEquals(0, none.kept().size(), "once");
        asked.message.buffer().close();
    }

    @Test
    void whoGivesUpAskingLeavesNothing() {
        for (int i = 0; i < 1000; i++) {
            handlers.receiveOnce(TAG).toCompletableFuture().cancel(false);
        }
        assertEquals(0, handlers.tags());
    }

    @Test
    void whoHasGivenUpAskingGetsNothing() throws Exception {
        handlers.receiveOnce(TAG).toCompletableFuture().cancel(false);
        handlers.receive(TAG, writes("a"));
        arrives(1);
        handlers.endTurn();
        awaitHandled("a1");
    }

    @Test
    void handlerThatThrowsCostsNoOtherMessageAnything() throws Exception {
        handlers.begin(Map.of(TAG, MessageHandler.onLoop(message -> {
            handled.add("thrown");
            throw new IllegalStateException("as told");
        })));
        arrives(1);
        arrives(2);
        assertEquals("thrown", handled.poll());
        assertEquals("thrown", handled.poll());
        assertEquals(2, consumed.get());
        handlers.receive(TAG, message -> {
            handled.add("on the thread");
            throw new IllegalStateException("as told");
        });
        arrives(3);
        handlers.endTurn();
        awaitHandled("on the thread");
        while (consumed.get() < 3) {
            Thread.onSpinWait();
        }
    }

    @Test
    void handlerThatIsTooSlowLeavesTheLoopWhenItReturns() throws Exception {
        handlers.begin(Map.of(TAG, MessageHandler.onLoop(message -> {
            LoopHandler on = onLoop.of(TAG);
            if (on != null) {
                on.look(0, 1);
                on.look(1, 1);
            }
            handled.add(on == null ? "on the thread" : "slow");
        })));
        arrives(1);
        assertEquals("slow", handled.poll());
        assertNull(onLoop.of(TAG));
        arrives(2);
        assertNull(handled.peek(), "not on the loop");
        handlers.endTurn();
        awaitHandled("on the thread");
        assertSame(onLoop, handlers.onLoop());
    }

    @Test
    void releaseThatThrowsIsLoggedAndTheNextMessageHandled() throws Exception {
        handlers.receive(TAG, writes("a"));
        SealedBuffer bytes = SealedBuffer.adopt(Arena.ofAuto().allocate(Integer.BYTES), () -> {
            throw new IllegalStateException("as told");
        });
        handlers.dispatch(new Message(1, TAG, Optional.empty(), bytes), sender, 1, new Credit(1 << 20));
        arrives(2);
        handlers.endTurn();
        awaitHandled("a0", "a2");
    }
}
