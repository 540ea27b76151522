// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.shell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LatestQueueTest {

    private final LatestQueue<String> queue = new LatestQueue<>();

    @Test
    void peerThatRepeatsItselfFillsNothing() throws InterruptedException {
        for (int i = 0; i < 1000; i++) {
            queue.put("one", "one " + i);
            queue.put("two", "two " + i);
        }
        assertEquals("one 999", queue.poll(0));
        queue.put("one", "again");
        assertEquals("two 999", queue.poll(0));
        assertEquals("again", queue.poll(0));
        assertNull(queue.poll(0));
    }

    @Test
    void whatIsClearedIsNotHeard() throws InterruptedException {
        queue.put("one", "one");
        queue.clear();
        assertNull(queue.poll(1));
    }

    @Test
    void waitsForTheNextOne() throws Exception {
        FutureTask<String> heard = new FutureTask<>(() -> queue.poll(TimeUnit.HOURS.toNanos(1)));
        Thread.ofVirtual().start(heard);
        queue.put("one", "one");
        assertEquals("one", heard.get(60, TimeUnit.SECONDS));
    }
}
