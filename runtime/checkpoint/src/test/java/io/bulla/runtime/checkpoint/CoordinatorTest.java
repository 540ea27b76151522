// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.checkpoint.CheckpointTicket.State;
import io.bulla.runtime.checkpoint.Notice.Word;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.stream.Stream;
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

    private FolderStore store() {
        return FolderStore.of(folder);
    }

    private static void writeFile(CheckpointStore store, long epoch) throws IOException {
        try (CheckpointStore.RankFile file = store.create(epoch, 0)) {
            file.write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
            file.publish();
        }
    }

    private static void whole(CheckpointStore store, long epoch) throws IOException {
        writeFile(store, epoch);
        store.publish(epoch, ByteBuffer.wrap(new byte[] {4}));
    }

    private Coordinator ofOne(int keeps) {
        return new Coordinator(
                1, store(), keeps, new AtOnce(), (rank, notice) -> said.add(notice.word() + " to " + rank));
    }

    /// Takes one, or writes the file alone.
    private void take(Coordinator coordinator, long epoch, boolean whole) throws IOException {
        CheckpointTicket ticket = new CheckpointTicket(_ -> {});
        coordinator.take(ticket, 1_000_000);
        coordinator.heard(0, new Notice(Word.PREPARED, 7, epoch, 10, 0, DIGESTS));
        coordinator.heard(0, new Notice(Word.TAKEN, 7, epoch, 10, 0, DIGESTS));
        writeFile(store(), epoch);
        if (whole) {
            coordinator.heard(0, new Notice(Word.DURABLE, 7, epoch, 3, 0, DIGESTS));
        } else {
            coordinator.abort(ticket, "for a test");
        }
        assertEquals(whole ? State.PUBLISHED : State.ABORTED, ticket.state());
        assertEquals(epoch, ticket.epoch());
    }

    private List<String> left() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void checkpointThatCannotBeDeletedKeepsNoOther() throws IOException {
        Coordinator coordinator = ofOne(1);
        take(coordinator, 1, true);
        Path note = Files.writeString(folder.resolve("checkpoint-000000000001/note.txt"), "mine");
        take(coordinator, 2, true);
        take(coordinator, 3, false);
        take(coordinator, 4, true);
        take(coordinator, 5, false);
        take(coordinator, 6, true);
        assertEquals(List.of("checkpoint-000000000001", "checkpoint-000000000006"), left());
        assertEquals("older checkpoints are left: epoch=6", log.getLast());
        Files.delete(note);
        take(coordinator, 7, true);
        assertEquals(List.of("checkpoint-000000000007"), left());
    }

    @Test
    void leftoverBelowTheFormerCheckpointIsDeleted() throws IOException {
        whole(store(), 4);
        writeFile(store(), 5);
        whole(store(), 6);
        take(ofOne(2), 7, true);
        assertEquals(List.of("checkpoint-000000000006", "checkpoint-000000000007"), left());
        assertEquals(List.of(), log);
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
