// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseTally;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.cut.LiveCut;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A step of a checkpoint that is lost, for there is no memory or the checkpoints close, loses no handle and no
/// ticket.
class LostStepTest {

    private static final Duration LONG = Duration.ofMinutes(1);

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), handles);
    private final AtomicInteger saved = new AtomicInteger();

    @TempDir
    private Path folder;

    @AfterEach
    void nothingIsOpen() {
        Job.await("all handles are closed", () -> handles.open() == 0);
        source.close();
    }

    private SealedBuffer state() {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, Long.BYTES)) {
            saved.incrementAndGet();
            return builder.putLong(7).seal();
        }
    }

    private OobNode node() throws IOException {
        return OobNode.builder(0, 1)
                .memory(source)
                .security(Security.plaintext())
                .directory(peer -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 1))
                .start();
    }

    private CheckpointOptions options() {
        return CheckpointOptions.DEFAULT.save("state", this::state);
    }

    @Test
    void ticketThatIsTakenWhileTheyCloseHasAnEnd() throws Exception {
        AgentThreads agent = new AgentThreads(0);
        CountDownLatch goesOn = new CountDownLatch(1);
        try (OobNode node = node()) {
            Checkpoints checkpoints = Checkpoints.of(node, FolderStore.of(folder), options(), agent);
            agent.run(() -> {
                try {
                    goesOn.await();
                } catch (InterruptedException stop) {
                    Thread.currentThread().interrupt();
                }
            });
            CheckpointTicket ticket = checkpoints.take(LONG);
            Thread closing = Thread.ofPlatform().start(checkpoints::close);
            Job.await("they close", () -> !agent.run(() -> {}));
            goesOn.countDown();
            assertTrue(Job.failure(ticket).getMessage().contains("checkpoints are closed: rank=0"));
            closing.join();
        }
    }

    @Test
    void ticketForWhichThereIsNoMemoryHasAnEnd() throws Exception {
        Failing agent = new Failing();
        agent.laterFails.set(true);
        try (OobNode node = node();
                Checkpoints checkpoints = Checkpoints.of(node, FolderStore.of(folder), options(), agent)) {
            assertTrue(Job.failure(checkpoints.take(LONG)).getMessage().contains("it cannot begin"));
            // and the next one begins
            Job.done(checkpoints.take(LONG).done());
        }
    }

    @Test
    void stateOfACutThatWasNotHeardOfIsClosed() throws Exception {
        Failing agent = new Failing();
        try (OobNode node = node();
                Checkpoints checkpoints = Checkpoints.of(node, FolderStore.of(folder), options(), agent)) {
            agent.fails = () -> saved.get() == 1;
            checkpoints.take(LONG).done();
            Job.await("it fails", () -> agent.failures.get() == 1);
            // with the checkpoint still waiting for its deadline
            Job.await("all handles are closed", () -> handles.open() == 0);
        }
    }

    @Test
    void nothingIsSavedOnceItIsOver() {
        Saving saving = new Saving(Map.of("state", this::state));
        saving.close();
        assertEquals(
                "checkpoint is over",
                assertThrows(IllegalStateException.class, saving::run).getMessage());
        assertEquals(0, saved.get());
    }

    @Test
    void stateThatComesTooLateIsClosed() {
        Saving[] saving = new Saving[1];
        saving[0] = new Saving(Map.of("state", () -> {
            saving[0].close();
            return state();
        }));
        assertThrows(IllegalStateException.class, saving[0]::run);
        assertEquals(1, saved.get());
        assertEquals(0, handles.open());
    }

    @Test
    void nothingIsSavedForACutThatIsNotHeardOf() {
        Saving saving = new Saving(Map.of("state", this::state));
        assertThrows(OutOfMemoryError.class, () -> saving.take(new UnheardCut(), (cut, failure) -> {}));
        assertThrows(IllegalStateException.class, saving::run);
        assertEquals(0, saved.get());
    }

    /// There is no memory to say who hears of it.
    private static final class UnheardCut implements LiveCut {

        @Override
        public CompletionStage<NodeCut> take(Runnable between) {
            return new CompletableFuture<>() {
                @Override
                public CompletableFuture<NodeCut> whenComplete(BiConsumer<? super NodeCut, ? super Throwable> then) {
                    throw new OutOfMemoryError("as told");
                }
            };
        }

        @Override
        public CompletionStage<Void> ready() {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<Void> over() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void end() {
            throw new UnsupportedOperationException();
        }
    }

    /// Has no memory for one step.
    private static final class Failing implements Agent {

        private final Agent real = new AgentThreads(0);
        private final AtomicBoolean laterFails = new AtomicBoolean();
        private final AtomicInteger failures = new AtomicInteger();
        private volatile BooleanSupplier fails = () -> false;

        @Override
        public boolean run(Runnable task) {
            if (fails.getAsBoolean() && failures.compareAndSet(0, 1)) {
                throw new OutOfMemoryError("as told");
            }
            return real.run(task);
        }

        @Override
        public Future<?> later(Runnable task, long nanos) {
            if (laterFails.compareAndSet(true, false)) {
                throw new OutOfMemoryError("as told");
            }
            return real.later(task, nanos);
        }

        @Override
        public void block(Runnable task) {
            real.block(task);
        }

        @Override
        public void log(String what, Throwable failure) {
            real.log(what, failure);
        }

        @Override
        public long now() {
            return real.now();
        }

        @Override
        public Instant time() {
            return real.time();
        }

        @Override
        public long number() {
            return real.number();
        }

        @Override
        public void close() {
            real.close();
        }
    }
}
