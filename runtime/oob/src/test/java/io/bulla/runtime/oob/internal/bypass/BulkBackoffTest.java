// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.bypass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.bulk.BulkTransport;
import io.bulla.runtime.oob.internal.core.BulkSettings;
import java.io.IOException;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// How long a device that has failed is left alone.
class BulkBackoffTest {

    private static final long SECOND = 1_000_000_000;

    private final Device device = new Device();
    private final BulkBackoff backoff = Objects.requireNonNull(BulkBackoff.of(new BulkSettings(device, 4096), 2, 3));

    /// Opens nothing, or a line that does nothing.
    private static final class Device implements BulkTransport {

        private final FakeLine line = new FakeLine();
        private int asked;
        private @Nullable Exception refuses;
        private @Nullable String lastPeer;
        private @Nullable Consumer<? super IOException> lastFailed;

        @Override
        public BulkLine open(String peer, Consumer<? super IOException> failed) throws IOException {
            asked++;
            lastPeer = peer;
            lastFailed = failed;
            if (refuses instanceof IOException refused) {
                throw refused;
            }
            if (refuses instanceof RuntimeException refused) {
                throw refused;
            }
            return line;
        }

        @Override
        public void close() {}
    }

    @Test
    void withoutATransportThereIsNone() {
        assertNull(BulkBackoff.of(null, 2, 3));
    }

    @Test
    void lineIsOfThePeerAndTellsItsFailure() {
        Consumer<IOException> failed = _ -> {};
        assertSame(device.line, backoff.open(0, failed));
        assertEquals("rank 3 of 2", device.lastPeer);
        assertSame(failed, device.lastFailed);
        assertEquals(4096, backoff.above());
    }

    /// The time may begin below zero.
    @Test
    void eachFailureDoublesThePauseUpToAMinute() {
        long now = -1000 * SECOND;
        long pause = SECOND;
        for (int i = 0; i < 9; i++) {
            device.refuses = i % 2 == 0 ? new IOException("no device") : new IllegalStateException("no device");
            assertNull(backoff.open(now, _ -> {}));
            assertEquals(2 * i + 1, device.asked);
            device.refuses = null;
            assertNull(backoff.open(now + pause - 1, _ -> {}));
            assertEquals(2 * i + 1, device.asked, "asked before the pause was over: pause=" + pause);
            assertNotNull(backoff.open(now + pause, _ -> {}));
            now += pause;
            pause = Math.min(2 * pause, 64 * SECOND);
        }
    }

    @Test
    void lineThatWorksEndsTheDoubling() {
        backoff.failed(0, new IOException("first"));
        backoff.failed(SECOND, new IOException("second"));
        assertNull(backoff.open(3 * SECOND - 1, _ -> {}));
        backoff.worked();
        assertNotNull(backoff.open(SECOND, _ -> {}), "there is no pause any more");
        backoff.failed(10 * SECOND, new IOException("third"));
        assertNull(backoff.open(11 * SECOND - 1, _ -> {}));
        assertNotNull(backoff.open(11 * SECOND, _ -> {}));
    }
}
