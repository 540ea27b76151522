// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.internal.admission.RefusalLog;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// However many unknown peers come, of each kind there is a line at once and one a second, and every one is counted.
class RefusalLogTest {

    private static final InetSocketAddress HERE = new InetSocketAddress("192.0.2.1", 7);
    private static final InetSocketAddress THERE = new InetSocketAddress("192.0.2.2", 8);

    private final Cluster ear = new Cluster();
    private final EmbeddedChannel time = new EmbeddedChannel();
    private final RefusalLog log = new RefusalLog(3, time.eventLoop());

    @AfterEach
    void nothingIsLeft() {
        time.finishAndReleaseAll();
        ear.close();
    }

    private void passSecond() {
        time.advanceTimeBy(1, TimeUnit.SECONDS);
        time.runScheduledPendingTasks();
    }

    private List<String> lines() {
        List<String> lines = new ArrayList<>();
        ear.log.drainTo(lines);
        return lines;
    }

    @Test
    void ofEachKindThereIsALineAtOnceAndThenOneASecond() {
        time.freezeTime();
        for (int i = 0; i < 10; i++) {
            log.refused(HERE, "not a peer: rank=" + i);
            log.refused(THERE, "no hello in time: millis=300");
        }
        assertEquals(
                List.of(
                        "refused a connection: rank=3 remote=/192.0.2.1:7 reason=not a peer: rank=0",
                        "refused a connection: rank=3 remote=/192.0.2.2:8 reason=no hello in time: millis=300"),
                lines());
        passSecond();
        log.refused(HERE, "not a peer: rank=10");
        assertEquals(
                List.of(
                        "refused connections: rank=3 count=9 last=/192.0.2.1:7 reason=not a peer: rank=9",
                        "refused connections: rank=3 count=9 last=/192.0.2.2:8 reason=no hello in time: millis=300"),
                lines().stream().sorted().toList());
        passSecond();
        passSecond();
        log.refused(HERE, "not a peer: rank=11");
        assertEquals(
                List.of(
                        "refused connections: rank=3 count=1 last=/192.0.2.1:7 reason=not a peer: rank=10",
                        "refused a connection: rank=3 remote=/192.0.2.1:7 reason=not a peer: rank=11"),
                lines());
    }

    @Test
    void closingSaysWhatIsLeft() {
        time.freezeTime();
        log.refused(HERE, "not a peer: rank=1");
        log.refused(THERE, "not a peer: rank=2");
        lines();
        log.close();
        assertEquals(
                List.of("refused connections: rank=3 count=1 last=/192.0.2.2:8 reason=not a peer: rank=2"), lines());
    }

    @Test
    void addressesAndRanksAreNoKind() {
        time.freezeTime();
        for (int i = 0; i < 3000; i++) {
            log.refused(
                    HERE,
                    "rank " + i % 7 + " is claimed by two processes: 10.0.0.1:7001 and 10.0.0." + i % 250 + ":" + i);
            log.refused(THERE, "cannot be reached from /192.0.2.9:" + i);
        }
        assertEquals(2, lines().size());
        passSecond();
        assertEquals(2, lines().size());
    }

    private static String letters(int number) {
        return Integer.toString(number)
                .chars()
                .mapToObj(digit -> "abcdefghij".substring(digit - '0', digit - '0' + 1))
                .collect(Collectors.joining());
    }

    @Test
    void kindsAndLinesHaveBounds() {
        time.freezeTime();
        for (int i = 0; i < 1000; i++) {
            log.refused(HERE, "made up " + letters(i));
        }
        assertEquals(33, lines().size());
        passSecond();
        assertEquals(
                List.of("refused connections: rank=3 count=967 last=/192.0.2.1:7 reason=made up " + letters(999)),
                lines());
        log.refused(HERE, "tls: two\r\nlines " + "x".repeat(10_000));
        String line = lines().getFirst();
        assertTrue(line.contains("reason=tls: two??lines xxx") && line.length() < 400, line);
    }
}
