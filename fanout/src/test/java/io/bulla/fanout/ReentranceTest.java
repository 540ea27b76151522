// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemorySource;
import io.bulla.testkit.NoOpenHandles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// What a transport calls from within `isReady`, `send` and `close`.
@ExtendWith(NoOpenHandles.class)
class ReentranceTest {

    @Test
    void publishFromWithinASendHasOneOrderForAll(MemorySource memory) {
        Line before = new Line();
        Line asking = new Line();
        Line after = new Line();
        Line blocked = Line.blocked();
        try (Fanout feed = Fanout.builder().build()) {
            feed.subscribe(before);
            feed.subscribe(asking);
            feed.subscribe(after);
            Subscription waits = feed.subscribe(blocked);
            asking.whileSending = () -> {
                if (asking.got.size() < 4) {
                    assertEquals(4, Line.publish(feed, memory, asking.got.size()));
                }
            };
            Line.publish(feed, memory, 0);
            blocked.open(waits);
            for (Line line : List.of(before, asking, after, blocked)) {
                assertEquals(FanoutTest.numbers(0, 4), line.got);
            }
        }
    }

    /// What a thread has published comes before what it publishes later, though another one has the turn by then.
    @Test
    void whatWasPutOffComesBeforeALaterMessage(MemorySource memory) {
        Line asking = Line.blocked();
        Line other = new Line();
        try (Fanout feed = Fanout.builder().build()) {
            Subscription waits = feed.subscribe(asking);
            feed.subscribe(other);
            Line.publish(feed, memory, 0);
            asking.whileSending = () -> {
                if (asking.got.size() == 1) {
                    Line.publish(feed, memory, 1);
                    Thread later = Thread.ofPlatform().start(() -> Line.publish(feed, memory, 2));
                    assertDoesNotThrow(() -> later.join());
                }
            };
            asking.open(waits);
            assertEquals(FanoutTest.numbers(0, 3), asking.got);
            assertEquals(FanoutTest.numbers(0, 3), other.got);
        }
    }

    @Test
    void whatWasPublishedInASendComesBeforeTheCompletionThere(MemorySource memory) {
        Line asking = new Line();
        Line after = new Line();
        Fanout feed = Fanout.builder().build();
        feed.subscribe(asking);
        feed.subscribe(after);
        asking.whileSending = () -> {
            if (asking.got.size() == 1) {
                assertEquals(2, Line.publish(feed, memory, 1));
                feed.complete();
                assertThrows(IllegalStateException.class, () -> Line.publish(feed, memory, 2));
            }
        };
        Line.publish(feed, memory, 0);
        for (Line line : List.of(asking, after)) {
            assertEquals(FanoutTest.numbers(0, 2), line.got);
            assertEquals(List.of(End.COMPLETED), line.ends);
        }
        assertEquals(0, feed.figures().subscribers());
    }

    @Test
    void whatWaitsForTheTurnIsBounded(MemorySource memory) {
        for (int queue : new int[] {1, 100}) {
            int most = Math.max(1024, 16 * queue);
            Line asking = new Line();
            Line other = new Line();
            try (Fanout feed = Fanout.builder()
                    .slow(SlowPolicy.DROP_OLDEST)
                    .queueMessages(queue)
                    .build()) {
                feed.subscribe(asking);
                feed.subscribe(other);
                asking.whileSending = () -> {
                    if (asking.got.size() > 1) {
                        return;
                    }
                    for (int number = 1; number <= most; number++) {
                        Line.publish(feed, memory, number);
                    }
                    assertEquals(most, feed.queued());
                    assertEquals(
                            "too much waits for the turn: messages=" + most + " bytes=" + 8 * most + " mostMessages="
                                    + most + " mostBytes=67108864",
                            assertThrows(IllegalStateException.class, () -> Line.publish(feed, memory, 0))
                                    .getMessage());
                };
                Line.publish(feed, memory, 0);
                assertEquals(FanoutTest.numbers(0, most + 1), asking.got);
                assertEquals(FanoutTest.numbers(0, most + 1), other.got);
            }
        }
    }

    /// The one that is waited for is the next to be closed.
    @Test
    void publishFromWithinACloseWaitsForNoPublisher(MemorySource memory) throws Exception {
        Line leaving = new Line();
        Line slow = Line.blocked();
        Fanout feed = Fanout.builder()
                .slow(SlowPolicy.WAIT)
                .queueMessages(1)
                .patience(Duration.ofHours(1))
                .build();
        feed.subscribe(leaving);
        feed.subscribe(slow);
        Line.publish(feed, memory, 0);
        Thread publisher = Thread.ofPlatform().daemon().start(() -> Line.publish(feed, memory, 1));
        FanoutTest.await(() -> publisher.getState() == Thread.State.TIMED_WAITING);
        leaving.whileClosing = () -> assertThrows(IllegalStateException.class, () -> Line.publish(feed, memory, 2));
        Thread closer = Thread.ofPlatform().daemon().start(feed::close);
        assertTrue(closer.join(Duration.ofMinutes(1)));
        publisher.join();
        assertEquals(List.of(End.CLOSED), slow.ends);
    }

    @Test
    void messagesFromWithinOneSendKeepTheirOrder(MemorySource memory) {
        Line asking = new Line();
        Line other = new Line();
        try (Fanout feed = Fanout.builder().build()) {
            feed.subscribe(asking);
            feed.subscribe(other);
            asking.whileSending = () -> {
                if (asking.got.size() == 1) {
                    for (int number = 1; number < 4; number++) {
                        Line.publish(feed, memory, number);
                    }
                }
            };
            Line.publish(feed, memory, 0);
            assertEquals(FanoutTest.numbers(0, 4), asking.got);
            assertEquals(FanoutTest.numbers(0, 4), other.got);
        }
    }

    @Test
    void publishFromWithinIsReadyAndCloseHasOneOrderForAll(MemorySource memory) {
        Line before = new Line();
        Line asking = new Line();
        Line after = new Line();
        try (Fanout feed = Fanout.builder().build()) {
            feed.subscribe(before);
            Subscription reader = feed.subscribe(asking);
            feed.subscribe(after);
            asking.whileAsked = () -> {
                if (asking.asked == 1) {
                    Line.publish(feed, memory, 1);
                }
            };
            asking.whileSending = () -> {
                if (asking.got.size() == 2) {
                    throw new IllegalStateException("broken");
                }
            };
            asking.whileClosing = () -> Line.publish(feed, memory, 2);
            Line.publish(feed, memory, 0);
            assertEquals(FanoutTest.numbers(0, 3), before.got);
            assertEquals(FanoutTest.numbers(0, 2), asking.got);
            assertEquals(FanoutTest.numbers(0, 3), after.got);
            assertTrue(!reader.isOpen());
        }
    }

    @Test
    void publishFromWithinAProceedIsSentWhenItIsOver(MemorySource memory) {
        Line asking = Line.blocked();
        Line other = new Line();
        try (Fanout feed = Fanout.builder().build()) {
            Subscription reader = feed.subscribe(asking);
            feed.subscribe(other);
            Line.publish(feed, memory, 0);
            Line.publish(feed, memory, 1);
            asking.whileSending = () -> {
                if (asking.got.size() == 1) {
                    Line.publish(feed, memory, 2);
                }
            };
            asking.open(reader);
            assertEquals(FanoutTest.numbers(0, 3), asking.got);
            assertEquals(FanoutTest.numbers(0, 3), other.got);
        }
    }

    /// The sender cannot wait for room that only itself can make, nor the publisher for the sender.
    @Test
    void senderThatPublishesDoesNotWaitForAPublisherThatWaitsForIt(MemorySource memory) throws Exception {
        Line asking = Line.blocked();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch waits = new CountDownLatch(1);
        AtomicBoolean once = new AtomicBoolean();
        try (Fanout feed = Fanout.builder()
                .slow(SlowPolicy.WAIT)
                .queueMessages(1)
                .patience(Duration.ofHours(1))
                .build()) {
            Subscription reader = feed.subscribe(asking);
            Line.publish(feed, memory, 0);
            asking.whileSending = () -> {
                if (once.compareAndSet(false, true)) {
                    inside.countDown();
                    join(waits);
                    Line.publish(feed, memory, 3);
                }
            };
            Thread sender = Thread.ofPlatform().start(() -> asking.open(reader));
            inside.await();
            Line.publish(feed, memory, 1);
            Thread publisher = Thread.ofPlatform().start(() -> Line.publish(feed, memory, 2));
            FanoutTest.await(() -> publisher.getState() == Thread.State.TIMED_WAITING);
            waits.countDown();
            publisher.join();
            sender.join();
            FanoutTest.await(() -> reader.sent() == 4);
            assertEquals(FanoutTest.numbers(0, 4), asking.got);
        }
    }

    @Test
    void whatWasPutOffIsSentThoughThePublisherWasInterrupted(MemorySource memory) throws Exception {
        Line asking = Line.blocked();
        Line blocked = Line.blocked();
        try (Fanout feed = Fanout.builder()
                .slow(SlowPolicy.WAIT)
                .queueMessages(1)
                .patience(Duration.ofHours(1))
                .build()) {
            Subscription first = feed.subscribe(asking);
            Subscription second = feed.subscribe(blocked);
            Line.publish(feed, memory, 0);
            Thread publisher = Thread.ofPlatform().start(() -> {
                AssertionError refused = assertThrows(AssertionError.class, () -> Line.publish(feed, memory, 1));
                assertInstanceOf(InterruptedException.class, refused.getCause());
            });
            FanoutTest.await(() -> publisher.getState() == Thread.State.TIMED_WAITING);
            asking.whileSending = () -> {
                if (asking.got.size() == 1) {
                    Line.publish(feed, memory, 2);
                }
            };
            asking.open(first);
            assertEquals(List.of(0L), asking.got);
            publisher.interrupt();
            // behind the interrupt, before the message that was put off has room
            FanoutTest.await(() -> publisher.getState() == Thread.State.TIMED_WAITING && !publisher.isInterrupted());
            blocked.open(second);
            publisher.join();
            assertEquals(List.of(0L, 2L), asking.got);
            assertEquals(List.of(0L, 2L), blocked.got);
        }
    }

    @Test
    void publishersToEachOthersFanoutDoNotWaitForEachOther(MemorySource memory) throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        List<Fanout> feeds = List.of(Fanout.builder().build(), Fanout.builder().build());
        List<Line> lines = List.of(new Line(), new Line());
        List<Thread> publishers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Line line = lines.get(i);
            Fanout other = feeds.get(1 - i);
            long answer = 10 + i;
            line.whileSending = () -> {
                if (line.got.size() == 1) {
                    both.countDown();
                    join(both);
                    Line.publish(other, memory, answer);
                }
            };
            feeds.get(i).subscribe(line);
        }
        for (Fanout feed : feeds) {
            publishers.add(Thread.ofPlatform().start(() -> Line.publish(feed, memory, 0)));
        }
        for (Thread publisher : publishers) {
            publisher.join();
        }
        assertEquals(List.of(0L, 11L), lines.get(0).got);
        assertEquals(List.of(0L, 10L), lines.get(1).got);
        feeds.forEach(Fanout::close);
    }

    @Test
    void putOffMessageOfAFanoutThatIsClosedMeanwhileIsGivenBack(MemorySource memory) {
        Line asking = new Line();
        Line after = new Line();
        Fanout feed = Fanout.builder().build();
        feed.subscribe(asking);
        feed.subscribe(after);
        asking.whileSending = () -> {
            Line.publish(feed, memory, 1);
            feed.close();
        };
        Line.publish(feed, memory, 0);
        assertEquals(List.of(0L), asking.got);
        assertEquals(List.of(), after.got);
        assertEquals(List.of(End.CLOSED), asking.ends);
        assertEquals(List.of(End.CLOSED), after.ends);
    }

    @Test
    void subscriberThatLeavesWithinItsSendGetsNothingMore(MemorySource memory) {
        Line leaving = Line.blocked();
        try (Fanout feed = Fanout.builder().build()) {
            Subscription reader = feed.subscribe(leaving);
            Line.publish(feed, memory, 0);
            Line.publish(feed, memory, 1);
            leaving.whileSending = reader::leave;
            leaving.open(reader);
            assertEquals(List.of(0L), leaving.got);
            assertEquals(List.of(), leaving.ends);
        }
    }

    @Test
    void subscriberThatIsEndedWithinItsSendIsClosedBehindIt(MemorySource memory) {
        Line ending = new Line();
        List<String> order = new ArrayList<>();
        try (Fanout feed = Fanout.builder().build()) {
            Subscription reader = feed.subscribe(ending);
            ending.whileSending = () -> {
                reader.end(End.CLOSED);
                order.add("sent");
            };
            ending.whileClosing = () -> order.add("closed");
            Line.publish(feed, memory, 0);
            assertEquals(List.of("sent", "closed"), order);
        }
    }

    @Test
    void subscriberThatCompletesWithinItsSendGetsWhatWaits(MemorySource memory) {
        Line line = Line.blocked();
        try (Fanout feed = Fanout.builder().build()) {
            Subscription reader = feed.subscribe(line);
            Line.publish(feed, memory, 0);
            Line.publish(feed, memory, 1);
            line.whileSending = reader::complete;
            line.open(reader);
            assertEquals(FanoutTest.numbers(0, 2), line.got);
            assertEquals(List.of(End.COMPLETED), line.ends);
        }
    }

    @Test
    void subscriberOfWithinASendGetsTheNextMessage(MemorySource memory) {
        Line line = new Line();
        Line added = new Line();
        try (Fanout feed = Fanout.builder().build()) {
            feed.subscribe(line);
            line.whileSending = () -> {
                if (line.got.size() == 1) {
                    feed.subscribe(added);
                }
            };
            Line.publish(feed, memory, 0);
            Line.publish(feed, memory, 1);
            assertEquals(List.of(1L), added.got);
        }
    }

    @Test
    void readinessToldWithinIsReadyIsNotLost(MemorySource memory) {
        Line line = Line.blocked();
        try (Fanout feed = Fanout.builder().build()) {
            Subscription reader = feed.subscribe(line);
            line.whileAsked = () -> {
                if (line.asked == 2) {
                    line.open(reader);
                }
            };
            Line.publish(feed, memory, 0);
            assertEquals(List.of(0L), line.got);
        }
    }

    private static void join(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException failure) {
            throw new AssertionError(failure);
        }
    }
}
