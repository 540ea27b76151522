// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.fixtures.Fork;
import io.bulla.posix.fixtures.MemoryFiles;
import io.bulla.posix.fixtures.NothingStays;
import io.bulla.posix.fixtures.SendFixture;
import io.bulla.refcount.LeaseTally;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// Real processes, ended by SIGKILL.
@ExtendWith(NothingStays.class)
@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class KilledBorrowerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int MESSAGES = 1000;
    private static final int SIZE = 16 << 10;

    private final LeaseTally handles = new LeaseTally();
    private final MemoryBudget budget = new MemoryBudget(64 << 20);
    private final ArenaSource copies = ArenaSource.create();

    @TempDir
    private Path parent;

    private Path folder;

    @BeforeEach
    void makeFolder() throws IOException {
        folder = Files.createDirectory(
                parent.resolve("f"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    @AfterEach
    void nothingStays() throws InterruptedException, IOException {
        copies.close(PATIENCE);
        try (var files = Files.list(folder)) {
            assertEquals(List.of(), files.toList());
        }
    }

    /// Borrows, says how many it has, and keeps them.
    static final class Borrows {
        public static void main(String[] args) throws Exception {
            SlabBorrower borrower = SlabBorrower.connect(Path.of(args[0]), 5, ArenaSource.create(), 1 << 20);
            List<SealedBuffer> held = new ArrayList<>();
            for (int i = 0; i < Integer.parseInt(args[1]); i++) {
                held.add(borrower.receive());
            }
            System.out.println("holds " + held.size());
            System.in.read();
        }
    }

    /// Lends the same number to the first that comes.
    static final class Lends {
        public static void main(String[] args) throws Exception {
            SharedSlabSource memory = SharedSlabSource.create();
            SlabLender lender = SlabLender.open(Path.of(args[0]), memory, SlabQuota.standard());
            System.out.println(lender.path());
            SlabPeer peer = lender.accept(PATIENCE);
            for (int i = 0; i < Integer.parseInt(args[1]); i++) {
                try (SealedBuffer message = message(memory)) {
                    if (peer == null || !peer.send(message)) {
                        throw new AssertionError("not lent");
                    }
                }
            }
            System.out.println("lent");
            System.in.read();
        }
    }

    private static SealedBuffer message(SharedSlabSource memory) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, SIZE)) {
            return builder.put(SendFixture.random(SIZE)).seal();
        }
    }

    private static Process start(Class<?> main, String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=io.bulla.posix"));
        command.addAll(Fork.module(main));
        command.addAll(List.of(args));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static void end(Process process) throws Exception {
        process.destroyForcibly().waitFor();
        process.getInputStream().close();
        process.getErrorStream().close();
        process.getOutputStream().close();
    }

    @Test
    void leasesOfAKilledBorrowerAreClosed() throws Exception {
        SharedSlabSource memory =
                SharedSlabSource.create(SlabSource.builder().budget(budget).trace(handles));
        try (SlabLender lender = SlabLender.open(folder, memory, SlabQuota.standard())) {
            Process borrows = start(Borrows.class, lender.path().toString(), Integer.toString(MESSAGES));
            SlabPeer peer = lender.accept(PATIENCE);
            assertNotNull(peer);
            assertEquals(borrows.pid(), peer.pid());
            for (int i = 0; i < MESSAGES; i++) {
                try (SealedBuffer message = message(memory)) {
                    assertTrue(peer.send(message) || peer.leases() > 0);
                }
            }
            BufferedReader said = borrows.inputReader();
            assertEquals("holds " + MESSAGES, said.readLine());
            int held = peer.leases();
            assertTrue(held > 100, "held=" + held);
            end(borrows);
            SlabLendingTest.await(() -> lender.figures().peers() == 0);
            assertEquals(held, lender.figures().reclaimed());
            assertEquals(0, peer.leases());
            assertEquals(0, handles.open());
            lender.close(PATIENCE);
        }
        memory.close(PATIENCE);
        assertEquals(0, budget.used());
    }

    @Test
    @Needs(Piece.DESCRIPTORS)
    void whatAKilledLenderLentStaysWhole() throws Exception {
        Process lends = start(Lends.class, folder.toString(), "50");
        BufferedReader said = lends.inputReader();
        Path path = Path.of(said.readLine());
        List<SealedBuffer> held = new ArrayList<>();
        try (SlabBorrower borrower = SlabBorrower.connect(path, 1, copies, 1 << 20)) {
            for (int i = 0; i < 30; i++) {
                held.add(borrower.receive());
            }
            assertEquals("lent", said.readLine());
            end(lends);
            assertTrue(Files.exists(path));
            // what was said before the end is heard after it
            for (int i = 30; i < 50; i++) {
                held.add(borrower.receive());
            }
            assertThrows(EOFException.class, borrower::receive);
            assertFalse(Files.exists(path), "the one who notices removes the socket");
        }
        for (SealedBuffer each : held) {
            assertArrayEquals(SendFixture.random(SIZE), each.toByteArray());
            each.close();
        }
    }
}
