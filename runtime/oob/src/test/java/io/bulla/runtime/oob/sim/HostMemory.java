// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.sim;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.LocalMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/// What nodes of one process lend each other as if they were processes of one host: the leases are
/// real, the mapping
/// is the same memory.
public final class HostMemory {

    private final int quota;
    // both under the monitor
    private final List<Link> links = new ArrayList<>();
    private int opened;

    /// @param quota leases that a peer may have on one connection
    public HostMemory(int quota) {
        this.quota = quota;
    }

    /// Of one node.
    public LocalMemory member() {
        return new Member();
    }

    /// Leases of all.
    public synchronized int leases() {
        return links.stream().mapToInt(Link::leases).sum();
    }

    /// Places that were opened.
    public synchronized int opened() {
        return opened;
    }

    private final class Member implements LocalMemory {

        @Override
        public Lender invite(int peer) {
            synchronized (HostMemory.this) {
                Link link = new Link(links.size());
                links.add(link);
                return link;
            }
        }

        @Override
        public CompletionStage<Borrower> borrow(int peer, byte[] invitation) {
            synchronized (HostMemory.this) {
                int index = ByteBuffer.wrap(invitation).getInt();
                return index < links.size()
                        ? CompletableFuture.completedFuture(links.get(index).new Other())
                        : CompletableFuture.failedFuture(new IOException("another host"));
            }
        }
    }

    private final class Link implements LocalMemory.Lender {

        private final int index;
        private final Map<Long, SealedBuffer> leases = new HashMap<>();
        private long number;
        private int open;
        private boolean left;

        Link(int index) {
            this.index = index;
        }

        @Override
        public byte[] invitation() {
            return ByteBuffer.allocate(Integer.BYTES).putInt(index).array();
        }

        @Override
        public boolean isProof(byte[] proof) {
            return proof.length == 1 && proof[0] == (byte) index;
        }

        @Override
        public boolean lend(SealedBuffer buffer, ByteBuffer place) {
            synchronized (HostMemory.this) {
                if (buffer.iovec().regionCount() != 1 || leases.size() >= quota || left) {
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
        public void close() {}

        private void end(long lease) {
            synchronized (HostMemory.this) {
                leases.remove(lease).close();
                open--;
                endIfLeft();
            }
        }

        /// What was lent and lost on the way ends when nothing is mapped any more.
        private void endIfLeft() {
            if (left && open == 0) {
                leases.values().forEach(SealedBuffer::close);
                leases.clear();
            }
        }

        private final class Other implements LocalMemory.Borrower {

            @Override
            public byte[] proof() {
                return new byte[] {(byte) index};
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
                synchronized (HostMemory.this) {
                    left = true;
                    endIfLeft();
                }
            }
        }
    }
}
