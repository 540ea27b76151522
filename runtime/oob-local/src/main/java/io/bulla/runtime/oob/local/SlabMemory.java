// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.local;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.lending.SharedSlabSource;
import io.bulla.posix.lending.SlabLender;
import io.bulla.posix.lending.SlabLenderFigures;
import io.bulla.posix.lending.SlabPeer;
import io.bulla.posix.lending.SlabQuota;
import io.bulla.runtime.oob.LocalMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/// Shared slabs that nodes of one host lend each other.
///
/// ```java
/// SharedSlabSource slabs = SharedSlabSource.create();
/// SlabMemory local = SlabMemory.open(folder, slabs, SlabQuota.standard());
/// OobNode node = OobNode.builder(rank, size).memory(slabs).localMemory(local)...start();
/// ```
///
/// What a program seals in `slabs`, and what lands there from the network, goes to peers of this host as 32 bytes for
/// each region. A process that borrows is one of the same user, it has the token that this node told the peer over
/// the connection that both were authenticated on, and it says what is in the slab that it was given: the peer. It
/// sees all of the slabs, so all nodes that are lent something trust each other to read; `docs/shared-memory.md` says
/// what one that should not be trusted can do.
///
/// One may serve several nodes of a process. It outlives them.
public final class SlabMemory implements LocalMemory, AutoCloseable {

    private static final Duration LONG = Duration.ofDays(1);

    private final SharedSlabSource slabs;
    private final SlabLender lender;
    private final HostId here;
    private final boolean acrossNamespaces;
    private final SecureRandom random = new SecureRandom();
    private final Map<Long, Lending> invited = new ConcurrentHashMap<>();
    private final Thread thread;

    private SlabMemory(SharedSlabSource slabs, SlabLender lender, HostId here, boolean acrossNamespaces) {
        this.slabs = slabs;
        this.lender = lender;
        this.here = here;
        this.acrossNamespaces = acrossNamespaces;
        this.thread = Thread.ofVirtual().name("bulla-lending").unstarted(this::greet);
    }

    /// Begins to lend to processes of this host: of this boot of the machine, network namespace and user. A peer in
    /// another network namespace, such as another pod's, gets bytes, though it may see the same folder.
    ///
    /// @param folder of this user, mode 0700; several processes may have the same
    /// @param slabs what is lent; it outlives this
    /// @param quota of each peer: over it, it gets bytes
    /// @return to be closed after the nodes
    /// @throws IOException if the folder is another user's or others may enter it, or the system
    ///     refuses
    /// @throws UnsupportedOperationException if native access is not enabled
    public static SlabMemory open(Path folder, SharedSlabSource slabs, SlabQuota quota) throws IOException {
        return open(folder, slabs, quota, false);
    }

    /// As [#open], to all processes of this boot of the machine that see the folder, also those of other network and
    /// user namespaces: containers that share a volume, and are meant to share memory.
    ///
    /// @param folder of this user, mode 0700; several processes may have the same
    /// @param slabs what is lent; it outlives this
    /// @param quota of each peer: over it, it gets bytes
    /// @return to be closed after the nodes
    /// @throws IOException if the folder is another user's or others may enter it, or the system
    ///     refuses
    /// @throws UnsupportedOperationException if native access is not enabled
    public static SlabMemory openAcrossNamespaces(Path folder, SharedSlabSource slabs, SlabQuota quota)
            throws IOException {
        return open(folder, slabs, quota, true);
    }

    private static SlabMemory open(Path folder, SharedSlabSource slabs, SlabQuota quota, boolean acrossNamespaces)
            throws IOException {
        HostId here = HostId.here();
        SlabLender lender = SlabLender.open(folder.toAbsolutePath(), slabs, quota);
        boolean opened = false;
        try {
            // too long a path is found here
            new Invitation(here, 0, lender.path()).toBytes();
            SlabMemory memory = new SlabMemory(slabs, lender, here, acrossNamespaces);
            memory.thread.start();
            opened = true;
            return memory;
        } finally {
            if (!opened) {
                lender.close();
            }
        }
    }

    /// What is lent, to all peers.
    ///
    /// @return a snapshot
    public SlabLenderFigures figures() {
        return lender.figures();
    }

    @Override
    public Lender invite(int peer) {
        long token = random.nextLong();
        byte[] nonce = new byte[Borrowing.NONCE];
        random.nextBytes(nonce);
        byte[] invitation;
        try {
            invitation = new Invitation(here, token, lender.path()).toBytes();
        } catch (IOException tooLong) {
            // it was looked at when this was opened
            throw new UncheckedIOException(tooLong);
        }
        SealedBuffer words;
        try (BufferBuilder builder = BufferBuilder.ofCapacity(slabs, Borrowing.NONCE)) {
            words = builder.put(nonce).seal();
        }
        boolean made = false;
        try {
            Lending lending = new Lending(peer, () -> invited.remove(token), invitation, nonce, words);
            invited.put(token, lending);
            made = true;
            return lending;
        } finally {
            if (!made) {
                words.close();
            }
        }
    }

    @Override
    public CompletionStage<Borrower> borrow(int peer, byte[] invitation) {
        CompletableFuture<Borrower> mapped = new CompletableFuture<>();
        try {
            Invitation of = Invitation.of(invitation);
            Optional<String> why = here.differs(of.host(), acrossNamespaces);
            if (why.isPresent()) {
                throw new IOException("peer of another host: peer=" + peer + " " + why.get());
            }
            // the lender answers, unless its process is stopped: that must hold up nothing else
            Thread.ofPlatform().daemon().name("bulla-borrowing-" + peer).start(() -> complete(mapped, of));
        } catch (IOException | RuntimeException | Error not) {
            mapped.completeExceptionally(not);
        }
        return mapped;
    }

    private void complete(CompletableFuture<Borrower> mapped, Invitation invitation) {
        try {
            mapped.complete(Borrowing.of(invitation, slabs));
        } catch (Throwable not) {
            mapped.completeExceptionally(not);
        }
    }

    /// Lends no more. What is lent stays lent until it is given back, or its borrower's process has ended. Again is
    /// harmless.
    @Override
    public void close() {
        thread.interrupt();
        lender.close();
    }

    /// Lends no more, as [#close()], and waits until nothing is lent.
    ///
    /// @param patience how long
    /// @throws IllegalStateException if peers still map slabs then
    /// @throws InterruptedException if the thread is interrupted while it waits; this is closed
    public void close(Duration patience) throws InterruptedException {
        thread.interrupt();
        lender.close(patience);
    }

    @Override
    public String toString() {
        return "SlabMemory[" + lender + "]";
    }

    private void greet(SlabPeer borrower) {
        boolean greeted = false;
        try {
            Lending lending = invited.remove(borrower.token());
            // of another token, or too late: it gets nothing
            greeted = lending != null && lending.greeted(borrower);
        } finally {
            if (!greeted) {
                // it would wait for its proof
                borrower.close();
            }
        }
    }

    private void greet() {
        while (true) {
            try {
                SlabPeer borrower = lender.accept(LONG);
                if (borrower != null) {
                    greet(borrower);
                }
            } catch (InterruptedException closed) {
                // as it should
                return;
            } catch (Throwable failure) {
                // of one peer, such as a listener's: the next one is greeted all the same
                log(failure);
            }
        }
    }

    private static void log(Throwable failure) {
        try {
            System.getLogger(SlabMemory.class.getName())
                    .log(System.Logger.Level.WARNING, "a borrower could not be greeted", failure);
        } catch (Throwable unsaid) {
            // the thread goes on
        }
    }
}
