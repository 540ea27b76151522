// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseLedger;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// A source that was closed without patience, and is held.
class HeldAfterTheEndTest {

    @Test
    void saysOnceWhoHolds() throws InterruptedException {
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        SlabSource source = SlabSource.builder()
                .trace(LeaseLedger.full())
                .grace(Duration.ofMillis(1), lines::add)
                .build();
        SealedBuffer forgotten = BufferBuilder.create(source).putLong(1).seal("peer-17");
        source.close();
        String line = lines.poll(60, TimeUnit.SECONDS);
        assertTrue(
                line != null
                        && line.matches("memory source closed with open handles: slabs=1 waited=\\d+ms"
                                + " held by \\[peer-17: handles=1 size=256 oldest=\\d+ms]"),
                line);
        forgotten.close();
        source.close(Duration.ofSeconds(60));
        assertEquals(List.of(), List.copyOf(lines), "said once");
    }
}
