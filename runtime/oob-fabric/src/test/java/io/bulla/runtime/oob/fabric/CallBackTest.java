// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.registration.PinBudget;
import io.bulla.runtime.oob.bulk.BulkLanding;
import io.bulla.runtime.oob.bulk.BulkLine;
import java.io.IOException;
import java.lang.Thread.State;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What a release calls: it is told in the middle of the fabric's work, under the domain's monitor.
class CallBackTest {

    private static final Duration PATIENCE = Duration.ofSeconds(15);
    private static final int EAGAIN = 11;
    private static final int MANY = 2000;

    private SlabSource memory;
    private FabricBulk bulk;
    private BulkLine writer;
    private BulkLine reader;
    private BulkLanding landing;

    @BeforeEach
    void linesWhoseWritesStayUnderWay() throws IOException {
        FabricBulkTest.need(BulkWorld.PROVIDER);
        memory = SlabSource.create();
        bulk = FabricBulk.open(BulkWorld.PROVIDER, memory, new PinBudget(1L << 40), PATIENCE);
        writer = bulk.open("writer", why -> {});
        reader = bulk.open("reader", why -> {});
        writer.connect(reader.address());
        landing = reader.land(64);
        FailingLibfabric.watch((name, made) -> name.equals("fi_writemsg") ? -EAGAIN : made.getAsLong());
    }

    @AfterEach
    void end() {
        if (memory != null) {
            FailingLibfabric.watch(null);
            writer.close();
            reader.close();
            bulk.close();
            memory.close();
        }
    }

    @Test
    void releaseMayAskForFiguresWhileWritesAreLookedAt() throws Exception {
        List<CompletionStage<Void>> writes = new ArrayList<>();
        try (SealedBuffer buffer = SealedBuffer.adopt(Arena.ofAuto().allocate(64), () -> {})) {
            for (int i = 0; i < MANY; i++) {
                writes.add(writer.write(buffer, landing.key(), landing.target()));
            }
        }
        Thread fabric = fabric();
        boolean looks = false;
        for (long end = System.nanoTime() + PATIENCE.toNanos(); !looks && System.nanoTime() - end < 0; ) {
            // as a release is called; the other thread stands for it, so that the test ends in any case
            synchronized (bulk.domain()) {
                awaitBlocked(fabric);
                looks = Stream.of(fabric.getStackTrace())
                        .anyMatch(each -> each.getMethodName().equals("isDone"));
                if (looks) {
                    CompletableFuture.supplyAsync(bulk::figures).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                }
            }
        }
        assertTrue(looks, "no look at a write was met");
        writer.close();
        for (CompletionStage<Void> each : writes) {
            CompletableFuture<Void> verdict = each.toCompletableFuture();
            assertThrows(Exception.class, () -> verdict.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        }
        assertEquals(MANY, bulk.figures().failed());
    }

    @Test
    void releaseMayCloseTheDevice() throws Exception {
        Thread fabric = fabric();
        CompletionStage<Void> write;
        Runnable release = () -> {
            awaitBlocked(fabric);
            bulk.close();
        };
        try (SealedBuffer buffer = SealedBuffer.adopt(Arena.ofAuto().allocate(64), release)) {
            write = writer.write(buffer, landing.key(), landing.target());
        }
        Thread closes = Thread.ofPlatform().daemon().start(writer::close);
        closes.join(PATIENCE);
        State is = closes.getState();
        if (is != State.TERMINATED) {
            // they wait for each other, and the end of the test would for them
            memory = null;
        }
        assertEquals(State.TERMINATED, is);
        assertThrows(Exception.class, () -> write.toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        fabric.join(PATIENCE);
        assertEquals(State.TERMINATED, fabric.getState());
    }

    private static Thread fabric() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(each -> each.getName().startsWith("bulla-fabric-"))
                .findFirst()
                .orElseThrow();
    }

    /// It comes for the monitor that the calling thread has.
    private static void awaitBlocked(Thread fabric) {
        while (fabric.getState() != State.BLOCKED) {
            Thread.onSpinWait();
        }
    }
}
