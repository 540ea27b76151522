// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.NoOpenHandles;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoOpenHandles.class)
class TopicsTest {

    @Test
    void eachMessageGoesToTheFollowersOfItsTopic(MemorySource memory) {
        Line both = new Line();
        Line one = new Line();
        Line none = new Line();
        try (Topics<String> topics = Fanout.builder().topics()) {
            topics.subscribe(both, List.of("a", "b"));
            topics.subscribe(one, List.of("b", "b"));
            topics.subscribe(none, List.of());
            assertEquals(1, publish(topics, "a", memory, 1));
            assertEquals(2, publish(topics, "b", memory, 2));
            assertEquals(0, publish(topics, "c", memory, 3));
            assertEquals(List.of(1L, 2L), both.got);
            assertEquals(List.of(2L), one.got);
            assertEquals(List.of(), none.got);
            assertEquals(new FanoutFigures(3, 3, 3, 0, 0, 0, 0), topics.figures());
        }
        for (Line line : List.of(both, one, none)) {
            assertEquals(List.of(End.CLOSED), line.ends);
        }
    }

    @Test
    void topicThatNoOneFollowsLeavesNothingBehind(MemorySource memory) {
        try (Topics<Integer> topics = Fanout.builder().topics()) {
            for (int i = 0; i < 1_000; i++) {
                Line line = new Line();
                Subscription reader = topics.subscribe(line, List.of(i, i + 1));
                assertEquals(2, topics.topics());
                publish(topics, i, memory, i);
                publish(topics, -1, memory, i);
                assertEquals(2, topics.topics());
                reader.leave();
                assertEquals(0, topics.topics());
                assertEquals(0, publish(topics, i, memory, i));
                assertEquals(1, line.got.size());
            }
            assertEquals(0, topics.topics());
        }
    }

    @Test
    void topicsAreFollowedAndLeftAtAnyTime(MemorySource memory) {
        Line line = Line.blocked();
        try (Topics<String> topics = Fanout.builder().topics()) {
            Subscription reader = topics.subscribe(line, List.of("a"));
            assertFalse(topics.follow(reader, "a"));
            assertTrue(topics.follow(reader, "b"));
            publish(topics, "b", memory, 1);
            assertTrue(topics.unfollow(reader, "b"));
            assertFalse(topics.unfollow(reader, "b"));
            publish(topics, "b", memory, 2);
            publish(topics, "a", memory, 3);
            line.open(reader);
            assertEquals(List.of(1L, 3L), line.got);
            reader.leave();
            assertFalse(topics.follow(reader, "c"));
            assertFalse(topics.unfollow(reader, "a"));
            assertEquals(0, topics.topics());
        }
    }

    @Test
    void oneQueueWithItsBoundIsForAllTopics(MemorySource memory) {
        Line line = Line.blocked();
        try (Topics<String> topics =
                Fanout.builder().slow(SlowPolicy.DROP_OLDEST).queueMessages(2).topics()) {
            Subscription reader = topics.subscribe(line, List.of("a", "b"));
            publish(topics, "a", memory, 1);
            publish(topics, "b", memory, 2);
            publish(topics, "a", memory, 3);
            assertEquals(2, topics.queued());
            line.open(reader);
            assertEquals(List.of(2L, 3L), line.got);
        }
    }

    @Test
    void ofEachTopicTheLastMessageWaits(MemorySource memory) {
        Line line = Line.blocked();
        try (Topics<String> topics = Fanout.builder().slow(SlowPolicy.CONFLATE).topics()) {
            Subscription reader = topics.subscribe(line, List.of("a", "b"));
            for (int i = 0; i < 10; i++) {
                publish(topics, "a", memory, i);
                publish(topics, "b", memory, 100 + i);
            }
            line.open(reader);
            assertEquals(List.of(9L, 109L), line.got);
        }
    }

    @Test
    void followerThatStopsWithinASendGetsNothingMoreOfTheTopic(MemorySource memory) {
        Line first = new Line();
        Line second = new Line();
        try (Topics<String> topics = Fanout.builder().topics()) {
            topics.subscribe(first, List.of("a"));
            Subscription stops = topics.subscribe(second, List.of("a"));
            first.whileSending = () -> {
                // moves all of them into another array than the one that is being read
                for (int i = 0; i < 20; i++) {
                    topics.subscribe(new Line(), List.of("a"));
                }
                topics.unfollow(stops, "a");
            };
            publish(topics, "a", memory, 1);
            assertEquals(List.of(), second.got);
            assertTrue(stops.isOpen());
        }
    }

    @Test
    void putOffMessageGoesToThoseWhoFollowWhenItIsSent(MemorySource memory) {
        Line asking = new Line();
        Line added = new Line();
        try (Topics<String> topics = Fanout.builder().topics()) {
            topics.subscribe(asking, List.of("a"));
            asking.whileSending = () -> {
                assertEquals(0, publish(topics, "b", memory, 2));
                topics.subscribe(added, List.of("b"));
            };
            publish(topics, "a", memory, 1);
            assertEquals(List.of(2L), added.got);
        }
    }

    @Test
    void subscriptionOfAnotherIsRefused(MemorySource memory) {
        try (Topics<String> topics = Fanout.builder().topics();
                Topics<String> others = Fanout.builder().topics();
                Fanout feed = Fanout.builder().build()) {
            Subscription one = others.subscribe(new Line(), List.of());
            Subscription two = feed.subscribe(new Line());
            assertEquals(
                    "subscription of another fan-out: " + one,
                    assertThrows(IllegalArgumentException.class, () -> topics.follow(one, "a"))
                            .getMessage());
            assertThrows(IllegalArgumentException.class, () -> topics.unfollow(two, "a"));
        }
    }

    @Test
    void topicWhoseHashFailsLeavesNoSubscriberBehind(MemorySource memory) {
        record Broken(int number) {
            @Override
            public int hashCode() {
                throw new IllegalStateException("planted");
            }
        }
        SealedBuffer first = Line.message(memory, 1, 8);
        try (Topics<Object> topics = Fanout.builder().first(List.of(first)).topics()) {
            first.close();
            Line line = new Line();
            assertThrows(IllegalStateException.class, () -> topics.subscribe(line, List.of("a", new Broken(1), "b")));
            assertEquals(0, topics.topics());
            assertEquals(0, topics.figures().subscribers());
            assertEquals(List.of(), line.got);
            assertEquals(List.of(), line.ends);
        }
    }

    @Test
    void topicsThatAreOverTakeNoMessageAndNoSubscriber(MemorySource memory) {
        Topics<String> topics = Fanout.builder().topics();
        Line slow = Line.blocked();
        Subscription reader = topics.subscribe(slow, List.of("a"));
        publish(topics, "a", memory, 1);
        topics.complete();
        assertThrows(IllegalStateException.class, () -> publish(topics, "a", memory, 2));
        Line late = new Line();
        topics.subscribe(late, List.of("a"));
        assertEquals(List.of(End.COMPLETED), late.ends);
        slow.open(reader);
        assertEquals(List.of(1L), slow.got);
        assertEquals(0, topics.topics());
        topics.close();
    }

    private static <K> int publish(Topics<K> topics, K topic, MemorySource memory, long number) {
        try (SealedBuffer message = Line.message(memory, number, 8)) {
            return topics.publish(topic, message);
        } catch (InterruptedException failure) {
            throw new AssertionError(failure);
        }
    }
}
