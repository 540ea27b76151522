// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.MessageHandler;
import io.bulla.runtime.oob.internal.flow.Credit;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.testkit.NoOpenHandles;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Who receives which message, what is kept, and what a message costs its sender meanwhile.
@ExtendWith(NoOpenHandles.class)
class ReceiversTest {

    private static final int TAG = 5;
    private static final int BYTES = 100;
    private static final long CHARGE = Credit.charge(BYTES);
    private static final MessageHandler HANDLER = message -> {};

    private final ArenaSource source = ArenaSource.create();
    private int watches;
    private final Environment environment = new Environment(
            Environment.MACHINE.clock(), Environment.MACHINE.random(), Environment.MACHINE.threads(), (nanos, look) -> {
                watches++;
                return () -> watches--;
            });
    private final LoopHandlers onLoop =
            new LoopHandlers(0, (task, whenDown) -> task.run(), environment, TimeUnit.DAYS.toNanos(1));
    private final HandlerExecutor thread = new HandlerExecutor("test", 0, Environment.MACHINE.threads());

    private final Handlers handlers =
            new Handlers(0, 0, source, thread, onLoop, new ThrowingFailures(AssertionError::new));

    private final Receivers receivers = new Receivers(0, 3 * CHARGE, onLoop);
    private final List<Incoming> arrived = new ArrayList<>();
    private final List<Long> consumed = new ArrayList<>();
    private final List<Long> own = new ArrayList<>();
    private final Incoming.Sender sender = new Incoming.Sender() {
        @Override
        public Object tag() {
            return "sender";
        }

        @Override
        public void consumed(Credit credit, long charge) {
            consumed.add(charge);
        }

        @Override
        public void handledOwn(long bytes) {
            own.add(bytes);
        }
    };

    private Message message(int bytes) {
        return new Message(
                1,
                TAG,
                Optional.empty(),
                BufferBuilder.create(source).put(new byte[bytes]).seal());
    }

    private Incoming arrived() {
        Incoming incoming = new Incoming(message(BYTES), handlers, sender, new Credit(1 << 20));
        arrived.add(incoming);
        return incoming;
    }

    private Incoming kept() {
        Incoming incoming = arrived();
        assertSame(incoming, receivers.of(incoming), "it has to be made compact first");
        incoming.compact(source);
        assertSame(Receivers.KEPT, receivers.of(incoming));
        assertTrue(incoming.isBegun());
        return incoming;
    }

    @AfterEach
    void end() {
        arrived.forEach(incoming -> incoming.message.buffer().close());
        onLoop.stopWatching();
        thread.close();
        thread.ended().toCompletableFuture().join();
        source.close();
    }

    @Test
    void handlerOfATagGetsWhatArrives() {
        assertTrue(receivers.set(TAG, HANDLER, null));
        assertEquals(1, receivers.tags());
        assertSame(HANDLER, receivers.of(arrived()));
        receivers.stop(TAG);
        assertEquals(0, receivers.tags());
        receivers.stop(TAG);
    }

    @Test
    void whoAsksForOneMessageComesBeforeTheHandlerAndIsForgotten() {
        CompletableFuture<Message> once = new CompletableFuture<>();
        assertNull(receivers.keptOrWait(TAG, once));
        assertEquals(1, receivers.tags());
        assertSame(once, receivers.of(arrived()));
        assertEquals(0, receivers.tags(), "nothing is asked for");
        receivers.set(TAG, HANDLER, null);
        assertNull(receivers.keptOrWait(TAG, once));
        assertSame(once, receivers.of(arrived()));
        assertSame(HANDLER, receivers.of(arrived()));
    }

    @Test
    void whatIsKeptComesInOrderAndIsCountedWhileItIs() {
        assertNull(receivers.firstKept(TAG));
        Incoming first = kept();
        Incoming second = kept();
        assertEquals(List.of(first, second), receivers.kept());
        assertEquals(2 * CHARGE, receivers.unclaimed());
        assertSame(first.message, receivers.firstKept(TAG));
        assertSame(first, receivers.keptOrWait(TAG, new CompletableFuture<>()));
        assertEquals(CHARGE, receivers.unclaimed());
        assertNull(receivers.nextKept(TAG, HANDLER), "it is not the tag's handler");
        receivers.set(TAG, HANDLER, null);
        assertSame(second, receivers.nextKept(TAG, HANDLER));
        assertNull(receivers.nextKept(TAG, HANDLER));
        assertEquals(0, receivers.unclaimed());
        assertNull(receivers.nextKept(TAG + 1, null));
    }

    @Test
    void nothingIsKnownOfATagWhoseLastMessageIsTaken() {
        kept();
        assertEquals(1, receivers.tags());
        receivers.nextKept(TAG, null);
        assertEquals(0, receivers.tags());
    }

    @Test
    void laterMessageIsBehindWhatIsKeptThoughThereIsAHandler() {
        Incoming first = kept();
        receivers.set(TAG, HANDLER, null);
        Incoming second = kept();
        assertEquals(List.of(first, second), receivers.kept());
    }

    @Test
    void upToTheBoundAMessageCostsItsSenderNothingAndBeyondItItsCredit() {
        kept();
        kept();
        kept();
        assertEquals(List.of(CHARGE, CHARGE, CHARGE), consumed, "the third one reaches the bound");
        Incoming beyond = kept();
        assertEquals(3, consumed.size());
        beyond.leave();
        beyond.leave();
        assertEquals(List.of(CHARGE, CHARGE, CHARGE, CHARGE), consumed, "once");
    }

    @Test
    void closedReceivesNothingAndHandsOutWhatIsKept() {
        Incoming kept = kept();
        Incoming late = arrived();
        CompletableFuture<Message> once = new CompletableFuture<>();
        List<Receivers.Tag> all = new ArrayList<>();
        receivers.close().forEach(all::add);
        assertEquals(1, all.size());
        assertEquals(0, receivers.unclaimed());
        assertSame(Receivers.CLOSED, receivers.of(late));
        assertSame(Receivers.CLOSED, receivers.keptOrWait(TAG, once));
        assertFalse(receivers.set(TAG, HANDLER, null));
        assertSame(kept, receivers.poll(all.getFirst().kept));
        assertNull(receivers.poll(all.getFirst().kept));
        receivers.stop(TAG);
        assertEquals(1, receivers.tags(), "none goes any more");
    }

    @Test
    void handlerRunsOnTheLoopIfNothingIsInItsWay() {
        MessageHandler runs = MessageHandler.onLoop(HANDLER);
        LoopHandler on = new LoopHandler(TAG, runs, 0);
        assertFalse(receivers.mayRun(on), "it is not set");
        receivers.set(TAG, runs, on);
        on.count();
        assertFalse(receivers.mayRun(on), "a message waits for the handlers' thread");
        on.uncount();
        assertNull(receivers.keptOrWait(TAG, new CompletableFuture<>()));
        assertFalse(receivers.mayRun(on), "who asks for one message comes first");
        receivers.of(arrived());
        assertTrue(receivers.mayRun(on));
        assertTrue(on.isRunning());
        on.end();
        receivers.set(TAG, HANDLER, null);
        assertNull(onLoop.of(TAG));
        assertFalse(receivers.mayRun(on), "another one took its place");
    }

    @Test
    void handlerThatTakesThePlaceOfOneThatRunsWaitsForIt() {
        MessageHandler runs = MessageHandler.onLoop(HANDLER);
        LoopHandler on = new LoopHandler(TAG, runs, 0);
        receivers.set(TAG, runs, on);
        assertTrue(receivers.mayRun(on));
        receivers.set(TAG, HANDLER, null);
        assertTrue(receivers.isLoopRunning(TAG));
        assertSame(Receivers.LOOP_RUNS, receivers.of(arrived()));
        on.end();
        assertFalse(receivers.isLoopRunning(TAG));
        assertSame(HANDLER, receivers.of(arrived()));
        assertFalse(receivers.isLoopRunning(TAG + 1));
    }

    @Test
    void tagIsKnownAsLongAsItsHandlerRuns() {
        MessageHandler runs = MessageHandler.onLoop(HANDLER);
        LoopHandler on = new LoopHandler(TAG, runs, 0);
        receivers.set(TAG, runs, on);
        receivers.mayRun(on);
        receivers.stop(TAG);
        assertEquals(1, receivers.tags());
        assertNull(onLoop.of(TAG));
        on.end();
        receivers.stop(TAG);
        assertEquals(0, receivers.tags());
    }

    @Test
    void handlerThatIsGivenUpLeavesTheLoopUnlessAnotherHasItsPlace() {
        MessageHandler runs = MessageHandler.onLoop(HANDLER);
        LoopHandler on = new LoopHandler(TAG, runs, 0);
        LoopHandler next = new LoopHandler(TAG, runs, 0);
        receivers.set(TAG, runs, on);
        receivers.set(TAG, runs, next);
        assertEquals(1, watches);
        receivers.giveUp(on);
        assertSame(next, onLoop.of(TAG));
        receivers.giveUp(next);
        assertNull(onLoop.of(TAG));
        assertEquals(0, watches);
        assertSame(runs, receivers.of(arrived()), "it runs as others do");
    }

    @Test
    void closeEndsTheWatch() {
        MessageHandler runs = MessageHandler.onLoop(HANDLER);
        receivers.set(TAG, runs, new LoopHandler(TAG, runs, 0));
        assertEquals(1, watches);
        receivers.close();
        assertEquals(0, watches);
    }

    @Test
    void smallMessageOfALargeBatchGetsMemoryOfItsOwn() {
        Incoming small;
        try (SealedBuffer batch =
                BufferBuilder.create(source).put(new byte[10 * BYTES]).seal()) {
            Message slice = new Message(1, TAG, Optional.empty(), batch.slice(0, BYTES));
            small = new Incoming(slice, handlers, sender, new Credit(1 << 20));
        }
        SealedBuffer landed = small.message.buffer();
        assertFalse(small.isCompact());
        small.compact(source);
        assertTrue(small.isCompact());
        assertNotSame(landed, small.message.buffer());
        assertFalse(landed.isOpen());
        assertEquals("sender", small.message.buffer().tag());
        assertEquals(CHARGE, small.charge());
        small.drop();
        assertEquals(List.of(CHARGE), consumed);
    }

    @Test
    void messageThatIsHalfOfItsBatchStaysInItAndCountsAsWhatItPins() {
        Incoming half;
        try (SealedBuffer batch =
                BufferBuilder.create(source).put(new byte[2 * BYTES]).seal()) {
            Message slice = new Message(1, TAG, Optional.empty(), batch.slice(0, BYTES));
            half = new Incoming(slice, handlers, sender, new Credit(1 << 20));
        }
        SealedBuffer landed = half.message.buffer();
        half.compact(source);
        assertSame(landed, half.message.buffer());
        assertEquals(2 * BYTES, half.charge());
        half.drop();
    }

    @Test
    void messageForWhichThereIsNoMemoryCountsAsWhatItPins() {
        Incoming small;
        try (SealedBuffer batch =
                BufferBuilder.create(source).put(new byte[10 * BYTES]).seal()) {
            Message slice = new Message(1, TAG, Optional.empty(), batch.slice(0, BYTES));
            small = new Incoming(slice, handlers, sender, new Credit(1 << 20));
        }
        small.compact(byteSize -> {
            throw new OutOfMemoryError("as told");
        });
        assertTrue(small.isCompact());
        assertEquals(10 * BYTES, small.charge());
        small.drop();
    }

    @Test
    void ownMessageAndBroadcastLeaveInTheirWays() {
        Incoming mine = new Incoming(message(BYTES), handlers, sender, null);
        assertTrue(mine.isOwn());
        mine.drop();
        assertEquals(List.of((long) BYTES), own);
        int[] released = new int[1];
        Incoming broadcast = Incoming.broadcast(message(BYTES), handlers, () -> released[0]++, null);
        assertFalse(broadcast.isOwn());
        assertTrue(broadcast.isChecked());
        assertFalse(broadcast.isRefused());
        broadcast.drop();
        broadcast.leave();
        assertEquals(1, released[0]);
        assertEquals(List.of(), consumed);
    }

    @Test
    void broadcastThatIsNotItsOriginsIsDroppedAndLetsTheLoopGoOn() {
        int[] released = new int[1];
        boolean[] genuine = new boolean[1];
        Incoming.Check check = new Incoming.Check() {
            @Override
            public boolean isGenuine() {
                return genuine[0];
            }

            @Override
            public boolean isRefused() {
                return true;
            }
        };
        LoopHandler on = new LoopHandler(TAG, HANDLER, 0);
        Incoming forged = Incoming.broadcast(message(BYTES), handlers, () -> released[0]++, check);
        forged.waitsBefore(on);
        assertFalse(on.isFree());
        assertFalse(forged.isChecked());
        assertTrue(forged.isRefused());
        forged.run();
        assertTrue(forged.isBegun());
        assertTrue(on.isFree());
        assertFalse(forged.message.buffer().isOpen());
        genuine[0] = true;
        List<Message> handled = new ArrayList<>();
        handlers.receive(TAG, handled::add);
        Incoming real = Incoming.broadcast(message(BYTES), handlers, () -> released[0]++, check);
        real.waitsBefore(on);
        real.run();
        assertEquals(List.of(real.message), handled);
        assertTrue(on.isFree());
        assertEquals(2, released[0]);
    }

    @Test
    void messageThatPinsNoMoreThanItsChargeStaysInItsBatch() {
        Incoming small;
        try (SealedBuffer batch =
                BufferBuilder.create(source).put(new byte[8 + Credit.HEADER]).seal()) {
            Message slice = new Message(1, TAG, Optional.empty(), batch.slice(0, 8));
            small = new Incoming(slice, handlers, sender, new Credit(1 << 20));
        }
        SealedBuffer landed = small.message.buffer();
        small.compact(source);
        assertSame(landed, small.message.buffer());
        small.drop();
    }

    @Test
    void messageWithoutBytesIsCompact() {
        Incoming empty = new Incoming(message(0), handlers, sender, new Credit(1 << 20));
        empty.compact(source);
        assertTrue(empty.isCompact());
        assertEquals(Credit.HEADER, empty.charge());
        empty.drop();
    }

    @Test
    void loopGoesOnWhenAMessageIsDroppedOrGoesToWhoAsksForOne() throws Exception {
        LoopHandler on = new LoopHandler(TAG, HANDLER, 0);
        Incoming dropped = new Incoming(message(BYTES), handlers, sender, null);
        dropped.waitsBefore(on);
        dropped.drop();
        assertTrue(on.isFree());
        CompletableFuture<Message> once = handlers.receiveOnce(TAG).toCompletableFuture();
        Incoming asked = arrived();
        asked.waitsBefore(on);
        asked.run();
        assertSame(asked.message, once.get());
        assertTrue(on.isFree());
    }

    @Test
    void loopWaitsForWhatHasNotBegun() {
        LoopHandler on = new LoopHandler(TAG, HANDLER, 0);
        Incoming.Check fails = new Incoming.Check() {
            @Override
            public boolean isGenuine() {
                throw new OutOfMemoryError("as told");
            }

            @Override
            public boolean isRefused() {
                return false;
            }
        };
        Incoming waits = Incoming.broadcast(message(BYTES), handlers, () -> {}, fails);
        waits.waitsBefore(on);
        assertThrows(OutOfMemoryError.class, waits::run);
        assertFalse(waits.isBegun());
        assertFalse(on.isFree());
        waits.drop();
        assertTrue(on.isFree());
    }
}
