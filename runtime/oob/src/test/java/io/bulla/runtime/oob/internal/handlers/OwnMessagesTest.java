// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.MessageHandler;
import io.bulla.runtime.oob.internal.core.Failures;
import io.bulla.runtime.oob.internal.flow.Credit;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.testkit.NoOpenHandles;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Messages of a node to itself whose handler runs on the loop.
@ExtendWith(NoOpenHandles.class)
class OwnMessagesTest {

    private static final int TAG = 5;
    private static final long FOREVER = TimeUnit.DAYS.toNanos(1);

    private final Failures none = new ThrowingFailures(AssertionError::new);
    private final Incoming.Sender itself = new Incoming.Sender() {
        @Override
        public Object tag() {
            return "itself";
        }

        @Override
        public void consumed(Credit credit, long charge) {
            throw new AssertionError("an own message has no credit");
        }

        @Override
        public void handledOwn(long bytes) {
            over++;
        }
    };
    private final ArenaSource source = ArenaSource.create();
    private final HandlerExecutor thread = new HandlerExecutor("test", 0, Environment.MACHINE.threads());
    private final LoopHandlers onLoop = new LoopHandlers(0, this::runOnLoop, Environment.MACHINE, FOREVER);
    private final Handlers handlers = new Handlers(0, 1000, source, thread, onLoop, none);
    private final List<String> handled = new ArrayList<>();
    private LoopHandlers.Loop loop = (task, whenDown) -> task.run();
    private int over;

    private void runOnLoop(Runnable task, Runnable whenDown) {
        loop.onLoop(task, whenDown);
    }

    private MessageHandler writes(String name) {
        return message -> handled.add(name + message.buffer().iovec().getInt(0));
    }

    private Incoming own(int number) {
        return new Incoming(
                new Message(
                        0,
                        TAG,
                        Optional.empty(),
                        BufferBuilder.create(source).putInt(number).seal()),
                handlers,
                itself,
                null);
    }

    private static void assertClosed(Incoming own) {
        assertThrows(ReleasedBufferException.class, own.message.buffer()::iovec);
    }

    @AfterEach
    void endThread() {
        onLoop.stopWatching();
        thread.close();
        thread.ended().toCompletableFuture().join();
        source.close();
    }

    @Test
    void messageThatALoopWithoutMemoryDoesNotTakeIsHandledLater() {
        handlers.begin(Map.of(TAG, MessageHandler.onLoop(writes("loop "))));
        Incoming own = own(1);
        OutOfMemoryError full = new OutOfMemoryError("as told");
        loop = (task, whenDown) -> {
            throw full;
        };
        assertSame(full, assertThrows(OutOfMemoryError.class, () -> handlers.deliver(own)));
        assertFalse(own.isBegun(), "it is not tried again");
        loop = (task, whenDown) -> task.run();
        handlers.deliver(own);
        assertEquals(List.of("loop 1"), handled);
        assertClosed(own);
        assertEquals(1, over);
    }

    @Test
    void messageForAHandlerThatIsReplacedMeanwhileGoesToTheNewOne() {
        handlers.begin(Map.of(TAG, MessageHandler.onLoop(writes("old "))));
        Incoming own = own(2);
        loop = (task, whenDown) -> {
            handlers.begin(Map.of(TAG, writes("new ")));
            task.run();
        };
        handlers.deliver(own);
        assertEquals(List.of("new 2"), handled);
        assertClosed(own);
        assertEquals(1, over);
    }

    @Test
    void messageForALoopThatHasEndedIsDroppedOnce() {
        handlers.begin(Map.of(TAG, MessageHandler.onLoop(writes("loop "))));
        Incoming own = own(3);
        loop = (task, whenDown) -> whenDown.run();
        handlers.deliver(own);
        assertEquals(List.of(), handled);
        assertTrue(own.isBegun());
        assertClosed(own);
        assertEquals(1, over);
    }

    @Test
    void messageThatWasHandledBeforeTheLoopEndedIsHandledOnce() {
        handlers.begin(Map.of(TAG, MessageHandler.onLoop(writes("loop "))));
        Incoming own = own(4);
        loop = (task, whenDown) -> {
            task.run();
            whenDown.run();
        };
        handlers.deliver(own);
        assertEquals(List.of("loop 4"), handled);
        assertClosed(own);
        assertEquals(1, over);
    }
}
