// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseTally;
import io.bulla.testkit.NoOpenHandles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ExtendWith(NoOpenHandles.class)
class FanoutTest {

    @ParameterizedTest
    @EnumSource
    void everyReadySubscriberGetsEveryMessageInOrder(SlowPolicy policy, MemorySource memory) {
        List<Line> lines = List.of(new Line(), new Line(), new Line());
        try (Fanout feed = Fanout.builder().slow(policy).build()) {
            lines.forEach(feed::subscribe);
            for (int i = 0; i < 100; i++) {
                assertEquals(3, Line.publish(feed, memory, i));
            }
            feed.complete();
            assertEquals(new FanoutFigures(0, 100, 300, 0, 0, 0, 0), feed.figures());
        }
        for (Line line : lines) {
            assertEquals(numbers(0, 100), line.got);
            assertEquals(List.of(End.COMPLETED), line.ends);
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsSentAtOnceTakesNoHandleAndWhatWaitsTakesOne(SlowPolicy policy, MemorySource memory) throws Exception {
        Line ready = new Line();
        Line blocked = Line.blocked();
        try (Fanout feed = Fanout.builder().slow(policy).build();
                SealedBuffer message = Line.message(memory, 7, 8)) {
            feed.subscribe(ready);
            LeaseTally handles = (LeaseTally) memory.trace();
            long before = handles.totalOpened();
            feed.publish(message);
            assertEquals(before, handles.totalOpened());
            Subscription waits = feed.subscribe(blocked);
            feed.publish(message);
            assertEquals(before + 1, handles.totalOpened());
            assertEquals(2, message.holders());
            assertEquals(1, waits.queued());
            assertEquals(8, waits.queuedBytes());
            blocked.open(waits);
            assertEquals(1, message.holders());
            assertEquals(0, waits.queuedBytes());
        }
        assertEquals(List.of(7L, 7L), ready.got);
        assertEquals(List.of(7L), blocked.got);
    }

    @Test
    void slowSubscriberLosesItsOldestMessages(MemorySource memory) {
        Line slow = Line.blocked();
        try (Fanout feed =
                Fanout.builder().slow(SlowPolicy.DROP_OLDEST).queueMessages(3).build()) {
            Subscription reader = feed.subscribe(slow);
            for (int i = 0; i < 20; i++) {
                Line.publish(feed, memory, i);
            }
            assertEquals(3, reader.queued());
            assertEquals(17, reader.dropped());
            assertEquals(17, feed.figures().droppedMessages());
            slow.open(reader);
            assertEquals(numbers(17, 20), slow.got);
        }
    }

    @Test
    void oneLargeMessagePushesSeveralOut(MemorySource memory) {
        Line slow = Line.blocked();
        try (Fanout feed =
                Fanout.builder().slow(SlowPolicy.DROP_OLDEST).queueBytes(100).build()) {
            Subscription reader = feed.subscribe(slow);
            for (int i = 0; i < 10; i++) {
                Line.publish(feed, memory, i, 10);
            }
            assertEquals(10, reader.queued());
            Line.publish(feed, memory, 10, 75);
            assertEquals(3, reader.queued());
            assertEquals(95, reader.queuedBytes());
            Line.publish(feed, memory, 11, 5000);
            assertEquals(1, reader.queued());
            slow.open(reader);
            assertEquals(List.of(11L), slow.got);
            assertEquals(11, reader.dropped());
        }
    }

    @Test
    void ofAStateTheLatestAloneWaits(MemorySource memory) {
        Line slow = Line.blocked();
        try (Fanout feed = Fanout.builder().slow(SlowPolicy.LATEST_ONLY).build()) {
            Subscription reader = feed.subscribe(slow);
            for (int i = 0; i < 20; i++) {
                Line.publish(feed, memory, i, 8 + i);
                assertEquals(1, reader.queued());
                assertEquals(8 + i, reader.queuedBytes());
            }
            slow.open(reader);
            assertEquals(List.of(19L), slow.got);
            assertEquals(19, reader.dropped());
        }
    }

    @Test
    void messageOfAKeyThatWaitsIsReplacedInItsPlace(MemorySource memory) {
        Line slow = Line.blocked();
        try (Fanout feed = Fanout.builder().slow(SlowPolicy.CONFLATE).build()) {
            Subscription reader = feed.subscribe(slow);
            Line.publish(feed, "a", memory, 1);
            Line.publish(feed, "b", memory, 2);
            Line.publish(feed, memory, 3);
            Line.publish(feed, "c", memory, 4);
            Line.publish(feed, memory, 5);
            Line.publish(feed, "b", memory, 6);
            Line.publish(feed, "a", memory, 7);
            assertEquals(5, reader.queued());
            assertEquals(40, reader.queuedBytes());
            assertEquals(2, reader.dropped());
            slow.open(reader);
            assertEquals(List.of(7L, 6L, 3L, 4L, 5L), slow.got);
            assertEquals(0, reader.queuedBytes());
        }
    }

    @Test
    void moreKeysThanHaveRoomDisconnect(MemorySource memory) {
        Line slow = Line.blocked();
        try (Fanout feed =
                Fanout.builder().slow(SlowPolicy.CONFLATE).queueMessages(2).build()) {
            Subscription reader = feed.subscribe(slow);
            Line.publish(feed, "a", memory, 1);
            Line.publish(feed, "b", memory, 2);
            Line.publish(feed, "a", memory, 3);
            assertTrue(reader.isOpen());
            Line.publish(feed, "c", memory, 4);
            assertEquals(List.of(new End.TooSlow(2, 16)), slow.ends);
            assertEquals(1, feed.figures().droppedSubscribers());
        }
    }

    @Test
    void subscriberThatIsTooSlowIsClosedAndNoOther(MemorySource memory) {
        Line slow = Line.blocked();
        Line fast = new Line();
        try (Fanout feed = Fanout.builder().queueMessages(4).build()) {
            Subscription reader = feed.subscribe(slow);
            feed.subscribe(fast);
            for (int i = 0; i < 20; i++) {
                Line.publish(feed, memory, i);
            }
            assertEquals(List.of(new End.TooSlow(4, 32)), slow.ends);
            assertEquals(new End.TooSlow(4, 32), reader.why());
            assertEquals(numbers(0, 20), fast.got);
            assertEquals(new FanoutFigures(1, 20, 20, 4, 1, 0, 0), feed.figures());
        }
    }

    @Test
    void publisherWaitsForRoom(MemorySource memory) throws Exception {
        Line slow = Line.blocked();
        try (Fanout feed = Fanout.builder()
                .slow(SlowPolicy.WAIT)
                .queueMessages(1)
                .patience(Duration.ofHours(1))
                .build()) {
            Subscription reader = feed.subscribe(slow);
            Thread publisher =
                    Thread.ofPlatform().start(() -> LongStream.range(0, 3).forEach(i -> Line.publish(feed, memory, i)));
            await(() -> publisher.getState() == Thread.State.TIMED_WAITING);
            slow.open(reader);
            publisher.join();
            assertEquals(numbers(0, 3), slow.got);
            assertEquals(0, feed.figures().droppedMessages());
            // the last one, too, if the one before it is not sent yet
            long waits = feed.figures().waits();
            assertTrue(waits == 1 || waits == 2, () -> "waits=" + waits);
        }
    }

    @Test
    void publisherDoesNotWaitForOneThatCompletes(MemorySource memory) throws Exception {
        Line slow = Line.blocked();
        try (Fanout feed = Fanout.builder()
                .slow(SlowPolicy.WAIT)
                .queueMessages(1)
                .patience(Duration.ofHours(1))
                .build()) {
            Subscription reader = feed.subscribe(slow);
            Line.publish(feed, memory, 0);
            Thread publisher = Thread.ofPlatform().daemon().start(() -> Line.publish(feed, memory, 1));
            await(() -> publisher.getState() == Thread.State.TIMED_WAITING);
            reader.complete();
            assertTrue(publisher.join(Duration.ofMinutes(1)));
            slow.open(reader);
            assertEquals(List.of(0L), slow.got);
            assertEquals(List.of(End.COMPLETED), slow.ends);
        }
    }

    @Test
    void publisherWithoutPatienceDisconnects(MemorySource memory) {
        Line slow = Line.blocked();
        try (Fanout feed = Fanout.builder()
                .slow(SlowPolicy.WAIT)
                .queueMessages(1)
                .patience(Duration.ZERO)
                .build()) {
            feed.subscribe(slow);
            Line.publish(feed, memory, 0);
            Line.publish(feed, memory, 1);
            assertEquals(List.of(new End.TooSlow(1, 8)), slow.ends);
        }
    }

    @Test
    void interruptedPublisherSendsToNoSubscriber(MemorySource memory) throws Exception {
        Line slow = Line.blocked();
        Line fast = new Line();
        try (Fanout feed = Fanout.builder()
                        .slow(SlowPolicy.WAIT)
                        .queueMessages(1)
                        .patience(Duration.ofHours(1))
                        .build();
                SealedBuffer message = Line.message(memory, 9, 8)) {
            feed.subscribe(fast);
            feed.subscribe(slow);
            feed.publish(message);
            CompletableFuture<Throwable> outcome = new CompletableFuture<>();
            Thread publisher = Thread.ofPlatform()
                    .start(() ->
                            outcome.complete(assertThrows(InterruptedException.class, () -> feed.publish(message))));
            await(() -> publisher.getState() == Thread.State.TIMED_WAITING);
            publisher.interrupt();
            outcome.get(1, TimeUnit.MINUTES);
            assertEquals(List.of(9L), fast.got);
            assertEquals(1, feed.figures().published());
        }
    }

    @Test
    void closeFreesAPublisherThatWaits(MemorySource memory) throws Exception {
        Fanout feed = Fanout.builder()
                .slow(SlowPolicy.WAIT)
                .queueMessages(1)
                .patience(Duration.ofHours(1))
                .build();
        feed.subscribe(Line.blocked());
        Line.publish(feed, memory, 0);
        Thread publisher = Thread.ofPlatform().start(() -> Line.publish(feed, memory, 1));
        await(() -> publisher.getState() == Thread.State.TIMED_WAITING);
        feed.close();
        publisher.join();
    }

    @Test
    void whatWaitsForATransportThatIsOverIsClosed(MemorySource memory) {
        Line gone = Line.blocked();
        try (Fanout feed = Fanout.builder().build();
                SealedBuffer message = Line.message(memory, 1, 8)) {
            Subscription reader = feed.subscribe(gone);
            publish(feed, message, 3);
            assertEquals(4, message.holders());
            reader.leave();
            reader.leave();
            assertEquals(1, message.holders());
            assertEquals(List.of(), gone.ends);
            assertSame(End.LEFT, reader.why());
            assertEquals(3, reader.dropped());
            assertEquals(0, reader.queued());
            assertEquals(0, feed.figures().subscribers());
        }
    }

    @Test
    void completeSendsWhatWaitsBeforeTheEnd(MemorySource memory) {
        Line slow = Line.blocked();
        Fanout feed = Fanout.builder().build();
        Subscription reader = feed.subscribe(slow);
        Line.publish(feed, memory, 0);
        Line.publish(feed, memory, 1);
        feed.complete();
        assertTrue(reader.isOpen());
        assertNull(reader.why());
        slow.open(reader);
        assertEquals(numbers(0, 2), slow.got);
        assertEquals(List.of(End.COMPLETED), slow.ends);
        assertFalse(reader.isOpen());
    }

    @Test
    void failedSendEndsItsSubscriptionAndNoOther(MemorySource memory) {
        IllegalStateException broken = new IllegalStateException("broken");
        Line failing = new Line();
        failing.whileSending = () -> {
            throw broken;
        };
        Line refusing = new Line();
        refusing.whileAsked = () -> {
            throw broken;
        };
        Line fast = new Line();
        try (Fanout feed = Fanout.builder().build()) {
            Subscription first = feed.subscribe(failing);
            feed.subscribe(refusing);
            feed.subscribe(fast);
            assertEquals(3, Line.publish(feed, memory, 0));
            assertEquals(1, Line.publish(feed, memory, 1));
            assertEquals(List.of(new End.Failed(broken)), failing.ends);
            assertEquals(List.of(new End.Failed(broken)), refusing.ends);
            assertEquals(numbers(0, 2), fast.got);
            assertEquals(2, feed.figures().failedSubscribers());
            assertFalse(first.isOpen());
        }
    }

    @Test
    void errorOfASendIsToldBehindAllOtherSends(MemorySource memory) throws Exception {
        OutOfMemoryError noHeap = new OutOfMemoryError("planted");
        Line failing = new Line();
        failing.whileSending = () -> {
            throw noHeap;
        };
        failing.whileClosing = () -> {
            throw new IllegalStateException("over already");
        };
        Line fast = new Line();
        try (Fanout feed = Fanout.builder().build();
                SealedBuffer message = Line.message(memory, 3, 8)) {
            feed.subscribe(failing);
            feed.subscribe(fast);
            assertSame(noHeap, assertThrows(OutOfMemoryError.class, () -> feed.publish(message)));
            assertEquals(List.of(3L), fast.got);
            assertEquals(1, failing.ends.size());
            assertEquals(1, feed.figures().failedSubscribers());
        }
    }

    @Test
    void firstMessagesGoBeforeAllElseAndCountForNoBound(MemorySource memory) {
        Line early = Line.blocked();
        Line late = new Line();
        SealedBuffer one = Line.message(memory, 100, 8);
        SealedBuffer two = Line.message(memory, 101, 8);
        try (Fanout feed = Fanout.builder()
                .slow(SlowPolicy.LATEST_ONLY)
                .first(List.of(one, two))
                .build()) {
            one.close();
            two.close();
            Subscription reader = feed.subscribe(early);
            Line.publish(feed, memory, 0);
            Line.publish(feed, memory, 1);
            feed.subscribe(late);
            assertEquals(List.of(100L, 101L), late.got);
            early.open(reader);
            assertEquals(List.of(100L, 101L, 1L), early.got);
            feed.subscribe(Line.blocked()).leave();
            assertEquals(3, feed.figures().droppedMessages());
        }
    }

    @Test
    void keysThatWaitTakeNoMoreBytesThanTheBound(MemorySource memory) throws Exception {
        Line slow = Line.blocked();
        try (Fanout feed = Fanout.builder()
                        .slow(SlowPolicy.CONFLATE)
                        .queueBytes(100)
                        .build();
                SealedBuffer forty = Line.message(memory, 1, 40);
                SealedBuffer sixty = Line.message(memory, 2, 60);
                SealedBuffer more = Line.message(memory, 3, 61)) {
            Subscription reader = feed.subscribe(slow);
            assertEquals(1, feed.publish("a", forty));
            feed.publish("b", sixty);
            assertEquals(100, reader.queuedBytes());
            assertTrue(reader.isOpen());
            feed.publish("b", sixty);
            assertEquals(100, reader.queuedBytes());
            assertTrue(reader.isOpen(), "what is replaced makes room");
            feed.publish("b", more);
            assertInstanceOf(End.TooSlow.class, reader.why());
            Subscription third = feed.subscribe(Line.blocked());
            feed.publish("a", forty);
            feed.publish("b", more);
            assertInstanceOf(End.TooSlow.class, third.why(), "a new key, beyond the bytes");
        }
    }

    @Test
    void errorOfACloseIsToldHoweverTheTransportEnds(MemorySource memory) {
        Error told = new Error("close, as told");
        Line first = new Line();
        Line second = new Line();
        Line third = new Line();
        for (Line each : List.of(first, second, third)) {
            each.whileClosing = () -> {
                throw told;
            };
        }
        Fanout feed = Fanout.builder().build();
        Subscription ended = feed.subscribe(first);
        assertSame(told, assertThrows(Error.class, () -> ended.end(End.CLOSED)));
        Subscription completed = feed.subscribe(second);
        assertSame(told, assertThrows(Error.class, completed::complete));
        feed.subscribe(third);
        assertSame(told, assertThrows(Error.class, feed::close));
        assertEquals(0, feed.figures().subscribers());
    }

    /// The turn is free again once what was put off is sent.
    @Test
    void othersPublishAfterAMessageOutOfASend(MemorySource memory) throws Exception {
        Line line = new Line();
        try (Fanout feed = Fanout.builder().build()) {
            Subscription reader = feed.subscribe(line);
            line.ready = false;
            Line.publish(feed, memory, 1);
            int[] count = {0};
            line.whileSending = () -> {
                line.whileSending = () -> {};
                count[0] = Line.publish(feed, memory, 2);
            };
            line.open(reader);
            assertEquals(1, count[0]);
            CompletableFuture<Integer> other = new CompletableFuture<>();
            Thread publisher = Thread.ofPlatform().start(() -> other.complete(Line.publish(feed, memory, 3)));
            publisher.join(TimeUnit.SECONDS.toMillis(20));
            assertEquals(1, other.getNow(0));
        }
        assertEquals(List.of(1L, 2L, 3L), line.got);
    }

    @Test
    void messageOutOfASendIsRefusedOnceTheFanoutIsOver(MemorySource memory) {
        Line line = new Line();
        Fanout feed = Fanout.builder().build();
        feed.subscribe(line);
        List<Throwable> refused = new ArrayList<>();
        line.whileSending = () -> {
            feed.close();
            refused.add(assertThrows(IllegalStateException.class, () -> Line.publish(feed, memory, 2)));
        };
        Line.publish(feed, memory, 1);
        assertEquals(1, refused.size());
        assertEquals(List.of(1L), line.got);
    }

    @Test
    void closedFirstMessageIsRefused(MemorySource memory) {
        try (SealedBuffer open = Line.message(memory, 1, 8)) {
            SealedBuffer closed = Line.message(memory, 2, 8);
            closed.close();
            Fanout.Builder settings = Fanout.builder().first(List.of(open, closed));
            assertThrows(ReleasedBufferException.class, settings::build);
            assertEquals(1, open.holders());
        }
    }

    @Test
    void fanoutThatIsOverTakesNoMessageAndNoSubscriber(MemorySource memory) {
        Line late = new Line();
        Line later = new Line();
        Fanout feed = Fanout.builder().build();
        feed.complete();
        feed.subscribe(late);
        assertEquals(List.of(End.COMPLETED), late.ends);
        feed.close();
        feed.close();
        feed.subscribe(later);
        assertEquals(List.of(End.CLOSED), later.ends);
        IllegalStateException over = assertThrows(IllegalStateException.class, () -> Line.publish(feed, memory, 0));
        assertEquals("fan-out is over: Closed[]", over.getMessage());
        assertEquals(0, feed.figures().subscribers());
    }

    @Test
    void closedMessageGoesToNoSubscriber(MemorySource memory) {
        Line line = new Line();
        try (Fanout feed = Fanout.builder().build()) {
            feed.subscribe(line);
            SealedBuffer closed = Line.message(memory, 0, 8);
            closed.close();
            assertThrows(ReleasedBufferException.class, () -> feed.publish(closed));
            Line.publish(feed, memory, 1);
            assertEquals(List.of(1L), line.got);
        }
    }

    @Test
    void programEndsOneSubscription(MemorySource memory) {
        Line line = new Line();
        try (Fanout feed = Fanout.builder().build()) {
            Subscription reader = feed.subscribe(line);
            End why = new End.Failed(new IllegalStateException("banned"));
            reader.end(why);
            reader.end(End.CLOSED);
            assertEquals(List.of(why), line.ends);
            assertEquals(0, Line.publish(feed, memory, 0));
            assertInstanceOf(End.Failed.class, reader.why());
        }
    }

    @Test
    void settingsAreChecked() {
        Fanout.Builder builder = Fanout.builder();
        assertEquals(
                "a queue holds at least one: messages=0",
                assertThrows(IllegalArgumentException.class, () -> builder.queueMessages(0))
                        .getMessage());
        assertEquals(
                "a queue holds at least one: bytes=0",
                assertThrows(IllegalArgumentException.class, () -> builder.queueBytes(0))
                        .getMessage());
        assertEquals(
                "patience is negative: patience=PT-1S",
                assertThrows(IllegalArgumentException.class, () -> builder.patience(Duration.ofSeconds(-1)))
                        .getMessage());
    }

    private static void publish(Fanout feed, SealedBuffer message, int times) {
        try {
            for (int i = 0; i < times; i++) {
                feed.publish(message);
            }
        } catch (InterruptedException failure) {
            throw new AssertionError(failure);
        }
    }

    static List<Long> numbers(long from, long to) {
        return new ArrayList<>(LongStream.range(from, to).boxed().toList());
    }

    static void await(BooleanSupplier fact) throws InterruptedException {
        long until = System.nanoTime() + TimeUnit.MINUTES.toNanos(10);
        while (!fact.getAsBoolean()) {
            if (System.nanoTime() > until) {
                throw new AssertionError("not within ten minutes");
            }
            Thread.sleep(1);
        }
    }
}
