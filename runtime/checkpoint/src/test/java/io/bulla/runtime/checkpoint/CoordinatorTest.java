// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.checkpoint.CheckpointTicket.State;
import io.bulla.runtime.checkpoint.Notice.Word;
import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A word that cannot be said keeps no ticket, and no other rank from hearing.
class CoordinatorTest {

    private static final String DIGESTS = "0".repeat(64) + " " + "1".repeat(64);

    private final List<Runnable> later = new ArrayList<>();
    private final List<String> said = new ArrayList<>();
    private final List<String> log = new ArrayList<>();

    @TempDir
    private Path folder;

    /// All at once, on the caller's thread.
    private final class AtOnce implements Agent {

        @Override
        public boolean run(Runnable task) {
            task.run();
            return true;
        }

        @Override
        public Future<?> later(Runnable task, long nanos) {
            later.add(task);
            return new CompletableFuture<>();
        }

        @Override
        public void block(Runnable task) {
            task.run();
        }

        @Override
        public void log(String what, Throwable failure) {
            log.add(what);
        }

        @Override
        public long now() {
            return 0;
        }

        @Override
        public Instant time() {
            return Instant.EPOCH;
        }

        @Override
        public long number() {
            return 7;
        }

        @Override
        public void close() {}
    }

    /// Rank 0 is out of reach when it is to hear of this.
    private Coordinator coordinator(Word unsaid) {
        // the ranks of this job write none
        CheckpointStore store = new Filter(FolderStore.of(folder)) {
            @Override
            public void publish(long epoch, ByteBuffer manifest) {}

            @Override
            public ReadableByteChannel rank(long epoch, int rank) {
                return Channels.newChannel(new ByteArrayInputStream(new byte[0]));
            }
        };
        return new Coordinator(2, store, 1, new AtOnce(), (rank, notice) -> {
            if (rank == 0 && notice.word() == unsaid) {
                throw new IllegalStateException("unsaid, for a test");
            }
            said.add(notice.word() + " to " + rank);
        });
    }

    @Test
    void abortThatCannotBeSaidEndsTheTicket() {
        Coordinator coordinator = coordinator(Word.ABORT);
        CheckpointTicket ticket = new CheckpointTicket(_ -> {});
        coordinator.take(ticket, 1_000_000);
        // its deadline
        later.getFirst().run();
        assertEquals(State.ABORTED, ticket.state());
        assertEquals(List.of("PREPARE to 0", "PREPARE to 1", "ABORT to 1"), said);
        assertTrue(log.getFirst().contains("rank=0 word=ABORT"), log::toString);
    }

    @Test
    void commitThatCannotBeSaidEndsTheTicket() {
        Coordinator coordinator = coordinator(Word.COMMIT);
        CheckpointTicket ticket = new CheckpointTicket(_ -> {});
        coordinator.take(ticket, 1_000_000);
        for (Word word : List.of(Word.PREPARED, Word.TAKEN, Word.DURABLE)) {
            for (int rank = 0; rank < 2; rank++) {
                coordinator.heard(rank, new Notice(word, 7, ticket.epoch(), 10, 0, DIGESTS));
            }
        }
        assertEquals(State.PUBLISHED, ticket.state());
        assertEquals("COMMIT to 1", said.getLast());
        assertTrue(log.getFirst().contains("rank=0 word=COMMIT"), log::toString);
    }

    @Test
    void stepThatCannotBeSaidIsSaidAgain() {
        Coordinator coordinator = coordinator(Word.PREPARE);
        CheckpointTicket ticket = new CheckpointTicket(_ -> {});
        coordinator.take(ticket, 1_000_000);
        // the deadline is the first of them
        later.get(1).run();
        assertEquals(List.of("PREPARE to 1", "PREPARE to 1"), said);
        assertEquals(3, later.size());
        assertEquals(State.PREPARING, ticket.state());
    }
}
