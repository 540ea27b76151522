// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.internal.wire.Frame;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Words beside the messages: the newest of a topic arrives, whatever the handlers do.
class NoticeTest {

    private final Cluster cluster = new Cluster();
    private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();

    @BeforeEach
    void twoNodes() throws Exception {
        cluster.start(2);
    }

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
    }

    private void say(int from, int to, int topic, String text) {
        cluster.node(from).notice(to, topic, text.getBytes(StandardCharsets.UTF_8));
    }

    private String next() throws InterruptedException {
        return heard.poll(10, TimeUnit.SECONDS);
    }

    private void hear(int peer, int topic, byte[] text) {
        heard.add(peer + "/" + topic + " " + new String(text, StandardCharsets.UTF_8));
    }

    @Test
    void noticeFindsAPeerThatWasNeverSpokenTo() throws Exception {
        cluster.node(1).receiveNotices(Runnable::run, this::hear);
        say(0, 1, 7, "");
        assertEquals("0/7 ", next());
        say(0, 1, 0, "x".repeat(256));
        assertEquals("0/0 " + "x".repeat(256), next());
    }

    @Test
    void slowReceiverHearsTheNewestOfEachTopic() throws Exception {
        BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
        cluster.node(1).receiveNotices(tasks::add, this::hear);
        for (int i = 0; i < 100; i++) {
            say(0, 1, i % 2, "word " + i);
        }
        Runnable first = tasks.poll(10, TimeUnit.SECONDS);
        Runnable second = tasks.poll(10, TimeUnit.SECONDS);
        // notices and messages of one connection come in order
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        Cluster.await("the last one is there", () -> tasks.isEmpty());
        first.run();
        second.run();
        assertEquals("0/0 word 98", next());
        assertEquals("0/1 word 99", next());
        assertNull(tasks.poll());
    }

    @Test
    void receiverThatFailsCostsTheOthersNothing() throws Exception {
        cluster.node(1)
                .receiveNotices(
                        task -> {
                            throw new RejectedExecutionException("on purpose");
                        },
                        this::hear);
        say(0, 1, 1, "lost");
        Cluster.line(cluster.log, "notice failed: rank=1 peer=0 topic=1");
        cluster.node(1).receiveNotices(Runnable::run, (peer, topic, text) -> {
            hear(peer, topic, text);
            throw new IllegalStateException("on purpose");
        });
        say(0, 1, 1, "a");
        assertEquals("0/1 a", next());
        say(0, 1, 1, "b");
        assertEquals("0/1 b", next());
    }

    @Test
    void noticeForAPeerThatWasGivenUpIsToldOfWhenItIsNotReached() throws Exception {
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        cluster.node(0).receiveNotices(Runnable::run, new NoticeReceiver() {
            @Override
            public void received(int peer, int topic, byte[] text) {
                hear(peer, topic, text);
            }

            @Override
            public void notReached(int peer, String why) {
                heard.add(peer + " " + why);
                throw new IllegalStateException("on purpose");
            }
        });
        cluster.node(1).close();
        Cluster.await(
                "the verdict",
                () -> cluster.node(0).stats().stream().anyMatch(peer -> peer.peer() == 1 && peer.failures() > 0));
        say(0, 1, 3, "a");
        String told = "1 peer 1 failed: it has closed; not reached since: ";
        for (int round = 0; round < 2; round++) {
            String next = next();
            assertNotNull(next);
            assertTrue(next.startsWith(told), next);
        }
    }

    @Test
    void whatIsNoNoticeIsRefused() {
        OobNode node = cluster.node(0);
        assertThrows(IllegalArgumentException.class, () -> node.notice(2, 0, new byte[0]));
        assertThrows(IndexOutOfBoundsException.class, () -> node.notice(1, Frame.TOPICS, new byte[0]));
        assertThrows(IllegalArgumentException.class, () -> node.notice(0, 0, new byte[0]));
        assertEquals(
                "not a notice: peer=1 rank=0 length=257 limit=256",
                assertThrows(IllegalArgumentException.class, () -> node.notice(1, 0, new byte[257]))
                        .getMessage());
    }
}
