// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.local;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.lending.SharedSlabSource;
import io.bulla.posix.lending.SlabQuota;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.refcount.LeaseLedger;
import io.bulla.runtime.oob.BroadcastResult;
import io.bulla.runtime.oob.LocalMemory;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.Send;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.Radix;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Nodes of one process, each with slabs of its own, mapped by the others as other processes would.
@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class SlabMemoryTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int TAG = 7;
    private static final int MOST_SENDS = 20_000;

    private final List<Host> hosts = new ArrayList<>();
    private final BlockingQueue<byte[]> got = new LinkedBlockingQueue<>();

    @TempDir
    private Path parent;

    private Path folder;

    /// A node and what it lends.
    private static final class Host {

        final LeaseLedger ledger = LeaseLedger.full();
        final MemoryBudget budget = new MemoryBudget(64 * SlabSource.SLAB);
        final SharedSlabSource slabs =
                SharedSlabSource.create(SlabSource.builder().budget(budget).trace(ledger));
        final SlabMemory local;
        OobNode node;

        Host(Path folder, SlabQuota quota) throws IOException {
            local = SlabMemory.open(folder, slabs, quota);
        }
    }

    @BeforeEach
    void makeFolder() throws IOException {
        folder = Files.createDirectory(
                parent.resolve("f"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    private void start(int size, SlabQuota quota) throws IOException {
        for (int rank = 0; rank < size; rank++) {
            Host host = new Host(folder, quota);
            hosts.add(host);
            host.node = OobNode.builder(rank, size)
                    .memory(host.slabs)
                    .localMemory(host.local)
                    .security(Security.plaintext())
                    .directory(peer -> hosts.get(peer).node.address())
                    .routing(new Radix(size))
                    .receive(TAG, message -> got.add(message.buffer().toByteArray()))
                    .start();
        }
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        hosts.forEach(host -> host.node.close(PATIENCE));
        for (Host host : hosts) {
            host.local.close(PATIENCE);
            assertEquals(List.of(), host.ledger.open());
            host.slabs.close(PATIENCE);
            assertEquals(0, host.budget.used());
        }
        assertEquals(List.of(), Arrays.asList(folder.toFile().list()));
    }

    private static void await(BooleanSupplier wanted) {
        for (int wait = 0; wait < 60_000 && !wanted.getAsBoolean(); wait++) {
            LockSupport.parkNanos(1_000_000);
        }
        assertTrue(wanted.getAsBoolean());
    }

    private static byte[] random(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    private SealedBuffer sealed(int rank, byte[] bytes) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(hosts.get(rank).slabs, bytes.length)) {
            return builder.put(bytes).seal();
        }
    }

    private void send(int from, int to, byte[] bytes) throws Exception {
        try (SealedBuffer message = sealed(from, bytes)) {
            hosts.get(from).node.send(to, TAG, message).get(60, TimeUnit.SECONDS);
        }
        assertArrayEquals(bytes, got.poll(60, TimeUnit.SECONDS));
    }

    /// Until what one sends another is lent.
    private void meet(int from, int to) throws Exception {
        long before = hosts.get(from).node.lentBytes();
        for (int sends = 0; hosts.get(from).node.lentBytes() == before; sends++) {
            assertTrue(sends < MOST_SENDS, "nothing is lent");
            send(from, to, random(LocalMemory.LEAST_BYTES));
        }
    }

    @Test
    void messagesOfNodesOfOneHostAreLent() throws Exception {
        start(2, SlabQuota.standard());
        meet(0, 1);
        meet(1, 0);
        OobNode node = hosts.get(0).node;
        for (int size : new int[] {70_000, 600_000, 5 << 20}) {
            long socket = node.socketBytes();
            long lent = node.lentBytes();
            send(0, 1, random(size));
            assertEquals(size, node.lentBytes() - lent);
            assertTrue(node.socketBytes() - socket < 500, () -> "socket-bytes=" + (node.socketBytes() - socket));
        }
        await(() -> hosts.get(0).local.figures().leases() == 0);
    }

    /// Its connection ended before it came: else its thread would wait for ever.
    @Test
    void borrowerOfAnInvitationThatIsOverHearsOfIt() throws Exception {
        start(1, SlabQuota.standard());
        SlabMemory local = hosts.get(0).local;
        byte[] over;
        try (LocalMemory.Lender lender = local.invite(0)) {
            over = lender.invitation();
        }
        ExecutionException why = assertThrows(
                ExecutionException.class,
                () -> local.borrow(0, over).toCompletableFuture().get(60, TimeUnit.SECONDS));
        assertInstanceOf(EOFException.class, why.getCause());
        await(() -> local.figures().peers() == 0);
    }

    @Test
    void messagesInSealedFilesGoAsFilesAlsoFromOneWhoReceivedThem() throws Exception {
        start(3, SlabQuota.standard());
        meet(0, 1);
        meet(1, 2);
        byte[] bytes = random(600_000);
        MemfdSource files = MemfdSource.create(hosts.get(0).budget, hosts.get(0).ledger);
        var kept = hosts.get(1).node.receiveOnce(TAG).toCompletableFuture();
        try (BufferBuilder builder = BufferBuilder.ofCapacity(files, bytes.length);
                SealedBuffer message = builder.put(bytes).seal()) {
            lends(0, bytes.length, () -> hosts.get(0).node.send(1, TAG, message));
        }
        try (SealedBuffer received = kept.get(60, TimeUnit.SECONDS).buffer()) {
            lends(1, bytes.length, () -> hosts.get(1).node.send(2, TAG, received));
        }
        assertArrayEquals(bytes, got.poll(60, TimeUnit.SECONDS));
    }

    private interface Sending {
        Send start();
    }

    private void lends(int rank, long bytes, Sending send) throws Exception {
        long lent = hosts.get(rank).node.lentBytes();
        send.start().get(60, TimeUnit.SECONDS);
        assertEquals(bytes, hosts.get(rank).node.lentBytes() - lent);
    }

    @Test
    void broadcastToAStarIsInMemoryOnce() throws Exception {
        start(4, SlabQuota.standard());
        for (int rank = 1; rank < 4; rank++) {
            meet(0, rank);
        }
        byte[] bytes = random(3 << 20);
        long used = hosts.get(1).slabs.figures().liveBytes();
        try (SealedBuffer message = sealed(0, bytes)) {
            BroadcastResult result = hosts.get(0)
                    .node
                    .broadcast(TAG, message)
                    .toCompletableFuture()
                    .get(60, TimeUnit.SECONDS);
            assertEquals(List.of(), result.failed());
        }
        for (int rank = 1; rank < 4; rank++) {
            assertArrayEquals(bytes, got.poll(60, TimeUnit.SECONDS));
        }
        assertTrue(hosts.get(1).slabs.figures().liveBytes() - used < bytes.length / 2);
    }

    @Test
    void overTheQuotaGoBytes() throws Exception {
        start(2, new SlabQuota(1, 100_000));
        meet(0, 1);
        long lent = hosts.get(0).node.lentBytes();
        send(0, 1, random(200_000));
        assertEquals(lent, hosts.get(0).node.lentBytes());
    }

    @Test
    void receiverKeepsItsBufferAfterBothNodesAreClosed() throws Exception {
        start(2, SlabQuota.standard());
        meet(0, 1);
        byte[] bytes = random(100_000);
        var kept = hosts.get(1).node.receiveOnce(TAG).toCompletableFuture();
        try (SealedBuffer message = sealed(0, bytes)) {
            hosts.get(0).node.send(1, TAG, message).get(60, TimeUnit.SECONDS);
        }
        try (SealedBuffer buffer = kept.get(60, TimeUnit.SECONDS).buffer()) {
            hosts.forEach(host -> host.node.close());
            assertArrayEquals(bytes, buffer.toByteArray());
            await(() -> hosts.get(0).local.figures().leases() == 1);
            String holders = hosts.get(0).ledger.summary();
            assertTrue(holders.contains(" peer=1"), holders);
        }
        await(() -> hosts.get(0).local.figures().leases() == 0);
    }

    @Test
    void idleSlabsAreGivenBackWhileBorrowersAreConnected() throws Exception {
        start(2, SlabQuota.standard());
        meet(0, 1);
        send(0, 1, random(5 << 20));
        Host lender = hosts.get(0);
        await(() -> {
            lender.slabs.trim();
            return lender.budget.used() == 0;
        });
        meet(0, 1);
    }

    @Test
    void invitationOfAnotherBootOrVersionOrNothingIsNotTakenUp() throws Exception {
        start(1, SlabQuota.standard());
        SlabMemory local = hosts.get(0).local;
        byte[] good;
        try (LocalMemory.Lender lender = local.invite(0)) {
            good = lender.invitation();
        }
        byte[] otherBoot = good.clone();
        otherBoot[16] ^= 1;
        byte[] otherVersion = good.clone();
        otherVersion[0] = 9;
        for (byte[] wrong : List.of(otherBoot, otherVersion, new byte[0], Arrays.copyOf(good, 20))) {
            CompletionException why = assertThrows(
                    CompletionException.class,
                    () -> local.borrow(0, wrong).toCompletableFuture().join());
            assertTrue(why.getCause() instanceof IOException, () -> "" + why);
        }
    }

    /// They may see the same files.
    @Test
    void peerOfAnotherNamespaceIsAskedForByName() throws Exception {
        start(1, SlabQuota.standard());
        SlabMemory local = hosts.get(0).local;
        HostId here = HostId.here();
        try (SlabMemory across = SlabMemory.openAcrossNamespaces(folder, hosts.get(0).slabs, SlabQuota.standard());
                LocalMemory.Lender lender = local.invite(0)) {
            Invitation good = Invitation.of(lender.invitation());
            assertEquals(here, good.host());
            HostId network = new HostId(here.boot(), "net:[1]", here.user());
            HostId user = new HostId(here.boot(), here.network(), 7);
            HostId boot = new HostId("another", here.network(), here.user());
            assertEquals(
                    "peer of another host: peer=3 network-namespace=net:[1] here=" + here.network(),
                    refused(local, good, network));
            assertEquals("peer of another host: peer=3 user=7 here=" + here.user(), refused(local, good, user));
            for (SlabMemory each : List.of(local, across)) {
                assertEquals(
                        "peer of another host: peer=3 boot=another here=" + here.boot(), refused(each, good, boot));
            }
            byte[] elsewhere = new Invitation(network, good.token(), good.path()).toBytes();
            LocalMemory.Borrower borrower =
                    across.borrow(3, elsewhere).toCompletableFuture().get(60, TimeUnit.SECONDS);
            assertTrue(lender.isProof(borrower.proof()));
            borrower.close();
        }
    }

    /// What a message quotes must not steer a terminal, nor begin a line of its own.
    @Test
    void invitationWithControlCharactersIsNone() throws Exception {
        HostId here = HostId.here();
        for (String hidden : List.of("\n", "\u001b[2J", "\u202e")) {
            List<Invitation> wrong = List.of(
                    new Invitation(new HostId(hidden, here.network(), here.user()), 1, Path.of("at")),
                    new Invitation(new HostId(here.boot(), hidden, here.user()), 1, Path.of("at")),
                    new Invitation(here, 1, Path.of("at" + hidden)));
            for (Invitation each : wrong) {
                byte[] bytes = each.toBytes();
                assertEquals(
                        String.format("not an invitation: control character: u+%04x", (int) hidden.charAt(0)),
                        assertThrows(IOException.class, () -> Invitation.of(bytes))
                                .getMessage());
            }
        }
    }

    private static String refused(SlabMemory local, Invitation of, HostId host) throws IOException {
        byte[] invitation = new Invitation(host, of.token(), of.path()).toBytes();
        return assertThrows(
                        CompletionException.class,
                        () -> local.borrow(3, invitation).toCompletableFuture().join())
                .getCause()
                .getMessage();
    }

    /// Only root can give a socket away.
    @Test
    @Needs(Piece.ROOT)
    void socketOfAnotherUserIsNotConnectedTo() throws Exception {
        start(1, SlabQuota.standard());
        SlabMemory local = hosts.get(0).local;
        Path socket = folder.resolve(folder.toFile().list()[0]);
        Files.setAttribute(socket, "unix:uid", 65534, LinkOption.NOFOLLOW_LINKS);
        try (LocalMemory.Lender lender = local.invite(0)) {
            CompletionException why = assertThrows(
                    CompletionException.class,
                    () -> local.borrow(0, lender.invitation())
                            .toCompletableFuture()
                            .join());
            assertEquals(
                    "socket of another user: path=" + socket + " owner=65534 user=0",
                    why.getCause().getMessage());
        }
    }

    @Test
    void proofIsWhatIsInTheSlab() throws Exception {
        start(1, SlabQuota.standard());
        SlabMemory local = hosts.get(0).local;
        try (LocalMemory.Lender lender = local.invite(0)) {
            assertTrue(!lender.isProof(new byte[16]));
            LocalMemory.Borrower borrower =
                    local.borrow(0, lender.invitation()).toCompletableFuture().get(60, TimeUnit.SECONDS);
            byte[] proof = borrower.proof();
            assertTrue(lender.isProof(proof));
            proof[3] ^= 1;
            assertTrue(!lender.isProof(proof));
            borrower.close();
        }
    }
}
