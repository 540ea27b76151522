// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.aeron.Aeron;
import io.aeron.driver.MediaDriver;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.lending.SharedSlabSource;
import io.bulla.posix.lending.SlabBorrower;
import io.bulla.posix.lending.SlabLender;
import io.bulla.posix.lending.SlabPeer;
import io.bulla.posix.lending.SlabQuota;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Real processes, ended by SIGKILL, or stopped.
@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class KilledAeronTest {

    private static final int MESSAGES = 1000;
    private static final int BYTES = 3000;
    private static final int TERM = 1 << 20;
    private static final SlabQuota QUOTA = new SlabQuota(MESSAGES, 64 << 20);
    private static final Duration PATIENCE = LendingPair.PATIENCE;

    @TempDir
    private Path folder;

    /// Borrows the number of messages in its last argument; gives the first hundred back, and the others on a word.
    static final class Borrows {
        public static void main(String[] args) throws Exception {
            List<SealedBuffer> held = new ArrayList<>();
            try (Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(args[0]));
                    AeronBorrower borrower = AeronBorrower.over(
                            SlabBorrower.connect(Path.of(args[1]), 5, ArenaSource.create(), 1 << 20),
                            aeron.addSubscription(args[2], LendingPair.PLACES),
                            aeron.addExclusivePublication(args[2], LendingPair.RETURNS))) {
                int wanted = Integer.parseInt(args[3]);
                for (int i = 0; i < wanted; ) {
                    SealedBuffer message = borrower.poll();
                    if (message == null) {
                        Thread.yield();
                        continue;
                    }
                    if (LendingPair.number(message) != i++) {
                        throw new AssertionError("out of order: " + i);
                    }
                    held.add(message);
                }
                held.subList(0, 100).forEach(SealedBuffer::close);
                System.out.println("holds " + (wanted - 100) + " by-aeron=" + borrower.isOverAeron());
                while (System.in.available() == 0) {
                    if (borrower.poll() != null) {
                        throw new AssertionError("one more");
                    }
                    Thread.sleep(1);
                }
                held.forEach(SealedBuffer::close);
                System.out.println("gave back");
                while (true) {
                    borrower.poll();
                    Thread.sleep(1);
                }
            }
        }
    }

    /// Lends the number of messages in its last argument to the first that comes.
    static final class Lends {
        public static void main(String[] args) throws Exception {
            SharedSlabSource memory = SharedSlabSource.create();
            SlabLender slabs = SlabLender.open(Path.of(args[1]), memory, QUOTA);
            System.out.println(slabs.path());
            SlabPeer peer = Objects.requireNonNull(slabs.accept(PATIENCE));
            try (Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(args[0]))) {
                AeronLender lender = AeronLender.over(
                        peer,
                        aeron.addExclusivePublication(args[2], LendingPair.PLACES),
                        aeron.addSubscription(args[2], LendingPair.RETURNS));
                while (!lender.isOverAeron()) {
                    lender.poll();
                }
                for (int i = 0; i < Integer.parseInt(args[3]); i++) {
                    try (SealedBuffer message = message(memory, i)) {
                        while (!lender.lend(message)) {
                            lender.poll();
                        }
                    }
                }
                System.out.println("lent by-aeron=" + lender.byAeron());
                System.in.read();
            }
        }

        private static SealedBuffer message(SharedSlabSource memory, long number) {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, BYTES)) {
                return builder.putLong(number)
                        .put(new byte[BYTES - 16])
                        .putLong(~number)
                        .seal();
            }
        }
    }

    /// Drives, for ever.
    static final class Drives {
        public static void main(String[] args) throws Exception {
            try (MediaDriver driver = LendingPair.driver(Path.of(args[0]))) {
                System.out.println("drives " + driver.aeronDirectoryName());
                System.in.read();
            }
        }
    }

    private static Process start(Class<?> main, String... args) throws IOException {
        String path = Stream.of("jdk.module.path", "java.class.path")
                .map(System::getProperty)
                .filter(Objects::nonNull)
                .collect(Collectors.joining(File.pathSeparator));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
                "-cp",
                path + File.pathSeparator + Path.of("target", "test-classes").toAbsolutePath(),
                main.getName()));
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

    private static void signal(String signal, Process process) throws Exception {
        assertEquals(
                0,
                new ProcessBuilder("kill", signal, Long.toString(process.pid()))
                        .inheritIO()
                        .start()
                        .waitFor());
    }

    /// A connection of another process's to this one's lender, on streams of its own sessions.
    private record Other(Process process, SlabPeer peer, AeronLender lender, BufferedReader said) {

        static Other borrow(LendingPair pair, int messages) throws Exception {
            Process process = start(
                    Borrows.class,
                    pair.aeronFolder().toString(),
                    pair.slabs.path().toString(),
                    pair.channel,
                    Integer.toString(messages));
            SlabPeer peer = Objects.requireNonNull(pair.slabs.accept(PATIENCE));
            assertEquals(process.pid(), peer.pid());
            AeronLender lender = AeronLender.over(
                    peer, pair.lendersAeron.addExclusivePublication(pair.channel, LendingPair.PLACES), pair.returns);
            LendingPair.await(() -> {
                LendingPair.poll(lender);
                return lender.isOverAeron();
            });
            return new Other(process, peer, lender, process.inputReader());
        }

        void lend(LendingPair pair, int messages) {
            for (int i = 0; i < messages; i++) {
                int number = i;
                LendingPair.await(() -> {
                    try (SealedBuffer message = pair.message(number, BYTES)) {
                        return lender.lend(message);
                    } catch (IOException gone) {
                        throw new AssertionError(gone);
                    }
                });
            }
        }
    }

    @Test
    void leasesOfAKilledBorrowerComeBackAndItsLateReturnsAreNothing() throws Exception {
        try (LendingPair pair = new LendingPair(folder, QUOTA, TERM);
                AeronBorrower beside = pair.borrow()) {
            pair.awaitAeron(beside);
            Other other = Other.borrow(pair, 900);
            other.lend(pair, 900);
            assertTrue(other.lender.byAeron() > 0, other.lender.toString());
            // its hundred returns are in Aeron's log, or on the socket
            assertEquals("holds 800 by-aeron=true", other.said.readLine());
            end(other.process);
            LendingPair.await(() -> pair.slabs.figures().peers() == 1);
            assertEquals(0, other.peer.leases());
            // late: the log has them still
            LendingPair.await(() -> polledGone(other.lender));
            assertEquals(0, pair.slabs.figures().cutOff());
            assertTrue(pair.lend(1, BYTES));
            try (SealedBuffer message = pair.next(beside)) {
                assertEquals(1, LendingPair.number(message));
            }
            pair.awaitNothingLent();

            Other next = Other.borrow(pair, 300);
            next.lend(pair, 300);
            assertEquals("holds 200 by-aeron=true", next.said.readLine());
            LendingPair.await(() -> {
                LendingPair.poll(next.lender);
                return next.peer.leases() == 200;
            });
            end(next.process);
            LendingPair.await(() -> next.peer.leases() == 0 && pair.handles.open() == 0);
        }
    }

    private static boolean polledGone(AeronLender lender) {
        try {
            lender.poll();
            return true;
        } catch (IOException gone) {
            return true;
        }
    }

    @Test
    void aStoppedBorrowerHoldsItsQuotaAndNoMore() throws Exception {
        try (LendingPair pair = new LendingPair(folder, QUOTA, TERM);
                AeronBorrower beside = pair.borrow()) {
            pair.awaitAeron(beside);
            Other other = Other.borrow(pair, MESSAGES);
            signal("-STOP", other.process);
            other.lend(pair, MESSAGES);
            try (SealedBuffer message = pair.message(MESSAGES, BYTES)) {
                assertFalse(other.lender.lend(message));
            }
            for (int i = 0; i < 2000; i++) {
                assertTrue(pair.lend(i, BYTES));
                try (SealedBuffer message = pair.next(beside)) {
                    assertEquals(i, LendingPair.number(message));
                }
            }
            assertEquals(MESSAGES, other.peer.leases());
            signal("-CONT", other.process);
            LendingPair.await(() -> {
                LendingPair.poll(other.lender);
                return other.peer.leases() == MESSAGES - 100;
            });
            assertTrue(other.said.readLine().startsWith("holds 900"));
            other.process.getOutputStream().write(1);
            other.process.getOutputStream().flush();
            assertEquals("gave back", other.said.readLine());
            LendingPair.await(() -> {
                LendingPair.poll(other.lender);
                return other.peer.leases() == 0;
            });
            assertNull(other.peer.gone());
            end(other.process);
        }
    }

    @Test
    void whatAKilledLenderLentComesWholeAndThenTheEnd() throws Exception {
        Path slabs = LendingPair.folder(folder);
        try (MediaDriver driver = LendingPair.driver(folder.resolve("aeron"));
                ArenaSource copies = ArenaSource.create();
                Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(driver.aeronDirectoryName()))) {
            String channel = "aeron:ipc?term-length=" + TERM;
            Process lends = start(Lends.class, driver.aeronDirectoryName(), slabs.toString(), channel, "500");
            BufferedReader said = lends.inputReader();
            SlabBorrower plain = SlabBorrower.connect(Path.of(said.readLine()), 1, copies, 1 << 20);
            List<SealedBuffer> held = new ArrayList<>();
            try (AeronBorrower borrower = AeronBorrower.over(
                    plain,
                    aeron.addSubscription(channel, LendingPair.PLACES),
                    aeron.addExclusivePublication(channel, LendingPair.RETURNS))) {
                LendingPair.await(() -> {
                    SealedBuffer message = LendingPair.none(borrower);
                    if (message != null) {
                        held.add(message);
                    }
                    return held.size() == 100;
                });
                String lent = said.readLine();
                assertTrue(lent.startsWith("lent by-aeron=") && !lent.endsWith("=0"), lent);
                end(lends);
                while (held.size() < 500) {
                    SealedBuffer message = borrower.poll();
                    if (message != null) {
                        held.add(message);
                    }
                }
                assertThrows(EOFException.class, () -> {
                    for (long end = System.nanoTime() + PATIENCE.toNanos(); System.nanoTime() < end; ) {
                        assertNull(borrower.poll());
                    }
                });
            }
            for (int i = 0; i < 500; i++) {
                assertEquals(i, LendingPair.number(held.get(i)));
                held.get(i).close();
            }
        }
    }

    @Test
    void withoutADriverEverythingGoesOnOverTheSocket() throws Exception {
        Path aeron = folder.resolve("aeron");
        Process drives = start(Drives.class, aeron.toString());
        drives.inputReader().readLine();
        try (LendingPair pair = new LendingPair(folder, QUOTA, TERM, null, aeron);
                AeronBorrower borrower = pair.borrow()) {
            pair.awaitAeron(borrower);
            end(drives);
            List<SealedBuffer> held = new ArrayList<>();
            long[] numbers = new long[2];
            LendingPair.await(() -> {
                try {
                    numbers[0] += numbers[0] < numbers[1] + 50 && pair.lend(numbers[0], BYTES) ? 1 : 0;
                } catch (IOException gone) {
                    throw new AssertionError(gone);
                }
                SealedBuffer message = LendingPair.none(borrower);
                if (message != null) {
                    assertEquals(numbers[1]++, LendingPair.number(message));
                    held.add(message);
                }
                if (held.size() > 20) {
                    held.removeFirst().close();
                }
                return numbers[1] > 3000 && !pair.lender.isOverAeron() && !borrower.isOverAeron();
            });
            held.forEach(SealedBuffer::close);
            while (numbers[1] < numbers[0]) {
                try (SealedBuffer message = pair.next(borrower)) {
                    assertEquals(numbers[1]++, LendingPair.number(message));
                }
            }
            LendingPair.await(() -> {
                LendingPair.poll(pair.lender);
                assertNull(LendingPair.none(borrower));
                return pair.peer.leases() == 0;
            });
            assertNull(pair.peer.gone());
        }
    }
}
