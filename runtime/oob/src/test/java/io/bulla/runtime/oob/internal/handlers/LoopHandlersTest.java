// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.MessageHandler;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.machine.Environment;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/// Handlers on the loop without a loop: who is found, who is too slow by the watch's clock, and how a thread waits.
class LoopHandlersTest {

    private static final MessageHandler HANDLER = message -> {};
    private static final long LIMIT = 1000;

    private final List<Long> periods = new ArrayList<>();
    private final List<Runnable> tasks = new ArrayList<>();
    private long now;
    private Runnable look = () -> {};
    private int ended;
    private boolean isDown;
    private final Environment environment =
            new Environment(() -> now, () -> 1, Environment.MACHINE.threads(), (nanos, looks) -> {
                periods.add(nanos);
                look = looks;
                return () -> ended++;
            });
    private final LoopHandlers handlers = handlers(LIMIT);

    private LoopHandlers handlers(long limit) {
        return new LoopHandlers(
                0,
                (task, whenDown) -> {
                    tasks.add(task);
                    if (isDown) {
                        whenDown.run();
                    } else {
                        task.run();
                    }
                },
                environment,
                limit);
    }

    private static LoopHandler of(int tag) {
        return new LoopHandler(tag, HANDLER, 0);
    }

    @Test
    void eachTagIsFoundAndNoOther() {
        assertNull(handlers.of(3));
        List<LoopHandler> all = new ArrayList<>();
        for (int tag : new int[] {7, 1, 5, Integer.MIN_VALUE, 3, Integer.MAX_VALUE}) {
            LoopHandler on = of(tag);
            handlers.put(on);
            all.add(on);
        }
        for (LoopHandler on : all) {
            assertSame(on, handlers.of(on.tag));
        }
        for (int tag : new int[] {0, 2, 4, 6, 8}) {
            assertNull(handlers.of(tag));
        }
        LoopHandler another = of(5);
        handlers.put(another);
        assertSame(another, handlers.of(5));
        handlers.remove(another);
        assertNull(handlers.of(5));
        assertSame(all.getFirst(), handlers.of(7));
    }

    @Test
    void watchLastsAsLongAsThereIsAHandler() {
        handlers.put(of(1));
        handlers.put(of(2));
        assertEquals(List.of(LIMIT / 2), periods);
        handlers.remove(of(1));
        assertEquals(0, ended);
        handlers.remove(of(2));
        assertEquals(1, ended);
        handlers.stopWatching();
        assertEquals(1, ended, "once");
        handlers.put(of(1));
        assertEquals(2, periods.size());
        handlers(1).put(of(1));
        assertEquals(1, periods.getLast(), "no less than a nanosecond");
    }

    @Test
    void oneCallOverTheLimitIsNamedOnceAndItsEndSaysSo() {
        LoopHandler on = of(1);
        handlers.put(on);
        on.begin();
        now = 500;
        look.run();
        now = 500 + LIMIT - 1;
        assertEquals(0, on.look(now, LIMIT));
        now = 500 + LIMIT;
        assertEquals(LIMIT, on.look(now, LIMIT));
        now = 3 * LIMIT;
        assertEquals(0, on.look(now, LIMIT), "it was named");
        assertTrue(on.end());
    }

    @Test
    void callsThatAreOverAreNotAddedUp() {
        LoopHandler on = of(1);
        for (int i = 0; i < 3; i++) {
            on.begin();
            assertEquals(0, on.look(now, LIMIT));
            now += LIMIT - 1;
            assertEquals(0, on.look(now, LIMIT));
            assertFalse(on.end());
            now += LIMIT;
        }
        assertEquals(0, on.look(now, LIMIT), "it does not run");
        now += LIMIT;
        assertEquals(0, on.look(now, LIMIT));
    }

    @Test
    void lookNamesOnceWhoBlocksTheLoopAndWhereThatIs() {
        List<LogRecord> said = new ArrayList<>();
        Handler log = new Handler() {
            @Override
            public void publish(LogRecord line) {
                if (line.getMessage().startsWith("handler blocks the event loop: rank=0 tag=")) {
                    said.add(line);
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger(NodeLog.LOG.getName());
        logger.addHandler(log);
        try {
            LoopHandler on = of(1);
            handlers.put(on);
            handlers.put(of(2));
            on.begin();
            look.run();
            now = 2_000_000;
            look.run();
            look.run();
            assertTrue(on.end());
            LoopHandler other = handlers.of(2);
            handlers.prepare();
            other.begin();
            look.run();
            now = 5_000_000;
            look.run();
        } finally {
            logger.removeHandler(log);
        }
        assertEquals(2, said.size());
        String first = said.getFirst().getMessage();
        assertTrue(first.startsWith("handler blocks the event loop: rank=0 tag=1 millis=2;"), first);
        String last = said.getLast().getMessage();
        assertTrue(last.startsWith("handler blocks the event loop: rank=0 tag=2 millis=3;"), last);
        StackTraceElement[] where = said.getLast().getThrown().getStackTrace();
        assertEquals("getStackTrace", where[0].getMethodName(), "the thread that was prepared, as it is now");
    }

    @Test
    void threadKnowsThatItRunsAHandler() throws Exception {
        List<Boolean> calling = new ArrayList<>();
        Thread loop = Thread.ofPlatform().start(() -> {
            handlers.prepare();
            handlers.prepare();
            calling.add(LoopHandlers.isCallingHere());
            handlers.begun();
            calling.add(LoopHandlers.isCallingHere());
            handlers.ended();
            calling.add(LoopHandlers.isCallingHere());
        });
        loop.join();
        assertEquals(List.of(false, true, false), calling);
        Thread.ofVirtual()
                .start(() -> calling.add(LoopHandlers.isCallingHere()))
                .join();
        assertFalse(calling.getLast());
    }

    @Test
    void waitEndsWithTheTaskWhateverItThrowsOrWithTheLoop() {
        boolean[] run = new boolean[1];
        assertTrue(handlers.waitFor(() -> run[0] = true));
        assertTrue(run[0]);
        assertThrows(
                IllegalStateException.class,
                () -> handlers.waitFor(() -> {
                    throw new IllegalStateException("as told");
                }));
        isDown = true;
        assertFalse(handlers.waitFor(() -> {}));
        handlers.later(() -> {});
        assertEquals(4, tasks.size());
    }

    @Test
    void noneRunsWhileTheyStandAndTheLoopIsAskedOnlyIfThereIsOne() {
        handlers.stand();
        assertTrue(handlers.isStanding());
        assertEquals(0, tasks.size());
        handlers.goOn();
        assertFalse(handlers.isStanding());
        handlers.put(of(1));
        handlers.stand();
        assertEquals(1, tasks.size());
    }

    @Test
    void messagesOnTheirWayAreCounted() {
        LoopHandler on = new LoopHandler(1, HANDLER, 1);
        assertFalse(on.isFree());
        on.uncount();
        assertTrue(on.isFree());
        on.count();
        assertFalse(on.isFree());
        assertFalse(on.isRunning());
        on.begin();
        assertTrue(on.isRunning());
        on.end();
        assertFalse(on.isRunning());
    }
}
