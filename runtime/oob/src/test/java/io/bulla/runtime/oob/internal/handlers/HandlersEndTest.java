// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.internal.core.Failures;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.testkit.NoOpenHandles;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// The end of what is kept and of who waits.
@ExtendWith(NoOpenHandles.class)
class HandlersEndTest {

    private static final int TAG = 5;

    private final OutOfMemoryError full = new OutOfMemoryError("for a failure, as told");
    private final Failures noFailure = new ThrowingFailures(why -> full);
    private final ArenaSource source = ArenaSource.create();
    private final HandlerExecutor thread = new HandlerExecutor("test", 0, Environment.MACHINE.threads());
    private final LoopHandlers onLoop = new LoopHandlers(0, (task, whenDown) -> task.run(), Environment.MACHINE, 1);
    private final Handlers handlers = new Handlers(0, 1000, source, thread, onLoop, noFailure);
    private final List<SealedBuffer> arrived = new ArrayList<>();

    @AfterEach
    void endThread() {
        thread.close();
        thread.ended().toCompletableFuture().join();
        source.close();
    }

    /// Without a sender, as one that does not count any more.
    private Incoming arrived(int tag) {
        SealedBuffer bytes = BufferBuilder.create(source).putInt(tag).seal();
        arrived.add(bytes);
        return new Incoming(new Message(1, tag, Optional.empty(), bytes), handlers, null, null);
    }

    private static void assertClosed(SealedBuffer handle) {
        assertThrows(ReleasedBufferException.class, handle::iovec);
    }

    @Test
    void closeForWhichThereIsNoMemoryDropsAllAndFailsWhoWaits() {
        for (int tag = 0; tag < TAG; tag++) {
            handlers.deliver(arrived(tag));
            handlers.deliver(arrived(tag));
        }
        CompletableFuture<Message> waits = handlers.receiveOnce(TAG).toCompletableFuture();
        try {
            handlers.close();
        } catch (OutOfMemoryError thrown) {
            fail("close has thrown");
        }
        assertEquals(2 * TAG, arrived.size());
        arrived.forEach(HandlersEndTest::assertClosed);
        assertSame(full, assertThrows(CompletionException.class, waits::join).getCause());
        assertEquals(0, handlers.unclaimed());
    }

    @Test
    void messageBehindTheCloseIsDropped() {
        handlers.close();
        Incoming late = arrived(TAG);
        handlers.deliver(late);
        assertTrue(late.isBegun());
        assertClosed(arrived.getFirst());
        handlers.receive(TAG, message -> {});
        assertEquals(0, handlers.tags());
    }
}
