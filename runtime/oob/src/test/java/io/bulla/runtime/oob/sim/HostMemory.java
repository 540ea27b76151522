// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.sim;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.LocalMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/// What nodes of one process lend each other as if they were processes of one host: the leases are
/// real, the mapping is the same memory.
public final class HostMemory {

    /// Less than nodes lend by default: most messages of a schedule are small.
    public static final int LEAST_BYTES = 4 << 10;

    private static final AtomicInteger HOSTS = new AtomicInteger(1000);

    private final int host;
    private final int quota;
    private final Executor later;
    // from here on under the monitor
    private final List<Link> links = new ArrayList<>();
    private int opened;
    private int endedByDeath;
    private int outlived;
    private int overQuota;

    /// A host of its own, where everything happens at once.
    ///
    /// @param quota leases that a peer may have on one connection
    public HostMemory(int quota) {
        this(HOSTS.incrementAndGet(), quota, Runnable::run);
    }

    /// @param host its name: invitations of others are not taken up
    /// @param quota leases that a peer may have on one connection
    /// @param later what another process does, at a time of its own: mapping, and giving back
    HostMemory(int host, int quota, Executor later) {
        this.host = host;
        this.quota = quota;
        this.later = later;
    }

    /// Of one node.
    public LocalMemory member() {
        return member(() -> {});
    }

    /// Of one node.
    ///
    /// @param wake called when its loop has something to do: it is on the thread that does this
    LocalMemory member(Runnable wake) {
        return new Member(wake);
    }

    /// The process of a member has ended: it has no mapping any more, and no one hears that what it lent has ended.
    void died(LocalMemory process) {
        synchronized (this) {
            Member member = (Member) process;
            member.dead = true;
            for (Link each : links) {
                if (each.borrower == member) {
                    later.execute(each::hangUp);
                }
                if (each.lender == member && each.open > 0) {
                    outlived += each.open;
                }
            }
        }
    }

    /// Leases of all whose lender has not died.
    public synchronized int leases() {
        return links.stream()
                .filter(link -> !link.lender.dead)
                .mapToInt(Link::leases)
                .sum();
    }

    /// Of all that are alive: lenders and borrowers that they have not closed.
    synchronized int unclosed() {
        return (int) links.stream()
                .mapToLong(link -> (link.lender.dead || link.closed ? 0 : 1) + (link.isMapped() ? 1 : 0))
                .sum();
    }

    /// Places that were opened.
    public synchronized int opened() {
        return opened;
    }

    void addTo(Sights sights) {
        sights.see("lent and opened", opened);
        sights.see("leases of a killed borrower", endedByDeath);
        sights.see("borrowed of a killed lender", outlived);
        sights.see("over the quota of leases", overQuota);
        for (Link each : links) {
            sights.see("leases lost with their connection", each.lost);
        }
    }

    private final class Member implements LocalMemory {

        private final Runnable wake;
        private boolean dead;

        Member(Runnable wake) {
            this.wake = wake;
        }

        @Override
        public int leastBytes() {
            return HostMemory.LEAST_BYTES;
        }

        @Override
        public Lender invite(int peer) {
            synchronized (HostMemory.this) {
                Link link = new Link(this, links.size());
                links.add(link);
                return link;
            }
        }

        @Override
        public CompletionStage<Borrower> borrow(int peer, byte[] invitation) {
            ByteBuffer words = ByteBuffer.wrap(invitation);
            if (words.getInt() != host) {
                return CompletableFuture.failedFuture(new IOException("another host"));
            }
            CompletableFuture<Borrower> mapped = new CompletableFuture<>();
            int index = words.getInt();
            later.execute(() -> {
                Borrower other = map(index);
                if (other != null) {
                    mapped.complete(other);
                    wake.run();
                }
            });
            return mapped;
        }

        private Borrower map(int index) {
            synchronized (HostMemory.this) {
                Link link = links.get(index);
                link.borrower = this;
                return dead ? null : link.new Other();
            }
        }
    }

    private final class Link implements LocalMemory.Lender {

        private final Member lender;
        private final int index;
        private final Map<Long, SealedBuffer> leases = new HashMap<>();
        private Member borrower;
        private long number;
        private int open;
        private boolean left;
        private boolean closed;
        private int lost;

        Link(Member lender, int index) {
            this.lender = lender;
            this.index = index;
        }

        @Override
        public byte[] invitation() {
            return ByteBuffer.allocate(2 * Integer.BYTES)
                    .putInt(host)
                    .putInt(index)
                    .array();
        }

        @Override
        public boolean isProof(byte[] proof) {
            return proof.length == Integer.BYTES && ByteBuffer.wrap(proof).getInt() == index;
        }

        @Override
        public boolean lend(SealedBuffer buffer, ByteBuffer place) {
            synchronized (HostMemory.this) {
                if (buffer.iovec().regionCount() != 1
                        || isBorrowed(buffer.iovec().lent().region(0))
                        || leases.size() >= quota
                        || left) {
                    overQuota += leases.size() >= quota ? 1 : 0;
                    return false;
                }
                leases.put(++number, buffer.share());
                place.putLong(index).putLong(number).putLong(0).putLong(buffer.byteSize());
                return true;
            }
        }

        @Override
        public int leases() {
            synchronized (HostMemory.this) {
                return leases.size();
            }
        }

        @Override
        public long leasedBytes() {
            synchronized (HostMemory.this) {
                return leases.values().stream()
                        .mapToLong(SealedBuffer::byteSize)
                        .sum();
            }
        }

        @Override
        public void close() {
            synchronized (HostMemory.this) {
                closed = true;
            }
        }

        /// What another process lent is no memory of the lender's own, so it cannot lend it on: its lease may end by
        /// its death, and with it the memory.
        private boolean isBorrowed(MemorySegment bytes) {
            return links.stream()
                    .filter(link -> link.borrower == lender)
                    .flatMap(link -> link.leases.values().stream())
                    .anyMatch(lent -> lent.iovec()
                            .lent()
                            .region(0)
                            .asOverlappingSlice(bytes)
                            .isPresent());
        }

        private boolean isMapped() {
            return borrower != null && !borrower.dead && !left;
        }

        /// The borrower's last handle is closed; the lender hears of it.
        private void end(long lease) {
            later.execute(() -> {
                synchronized (HostMemory.this) {
                    SealedBuffer lent = leases.remove(lease);
                    // else its process has ended meanwhile
                    if (lent != null) {
                        lent.close();
                        open--;
                        endIfLeft();
                    }
                }
            });
        }

        /// What was lent and lost on the way ends when nothing is mapped any more.
        private void endIfLeft() {
            if (left && open == 0) {
                lost += leases.size();
                closeAll();
            }
        }

        private void hangUp() {
            synchronized (HostMemory.this) {
                left = true;
                open = 0;
                endedByDeath += leases.size();
                closeAll();
            }
        }

        private void closeAll() {
            leases.values().forEach(SealedBuffer::close);
            leases.clear();
        }

        private final class Other implements LocalMemory.Borrower {

            @Override
            public byte[] proof() {
                return ByteBuffer.allocate(Integer.BYTES).putInt(index).array();
            }

            @Override
            public SealedBuffer open(ByteBuffer place) throws IOException {
                synchronized (HostMemory.this) {
                    long of = place.getLong();
                    long lease = place.getLong();
                    SealedBuffer lent = leases.get(lease);
                    if (of != index || lent == null || left) {
                        throw new IOException("no such lease: link=" + of + " lease=" + lease);
                    }
                    SealedBuffer borrowed =
                            SealedBuffer.adopt(lent.iovec().lent().region(0), () -> end(lease));
                    open++;
                    opened++;
                    return borrowed;
                }
            }

            @Override
            public void tick() {}

            @Override
            public void close() {
                later.execute(() -> {
                    synchronized (HostMemory.this) {
                        left = true;
                        endIfLeft();
                    }
                });
            }
        }
    }
}
