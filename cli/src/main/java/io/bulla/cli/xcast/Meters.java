// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.interop.netty.MeteredAllocator;
import io.bulla.iovec.CopyTally;
import io.bulla.pool.SlabSource;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.LeaseTally;
import io.bulla.refcount.LeaseTrace;
import io.bulla.registration.PinBudget;
import io.bulla.runtime.oob.fabric.FabricBulk;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;

/// The memory of the nodes in this process, and what is known of it. Counts copies where bytes move, and memory
/// where it is taken: the source, the channels' allocator, and Netty's global allocators, in case a transport goes
/// around the channels' one.
final class Meters implements AutoCloseable {

    /// A reading of all meters.
    ///
    /// @param copies copies out of sealed buffers
    /// @param allocated bytes handed out by the source and by Netty's allocators
    record Reading(long copies, long allocated) {
        Reading since(Reading earlier) {
            return new Reading(copies - earlier.copies, allocated - earlier.allocated);
        }

        Reading plus(Reading other) {
            return new Reading(copies + other.copies, allocated + other.allocated);
        }
    }

    private static final int SETTLE_MILLIS = 2000;
    private static final Duration BULK_PATIENCE = Duration.ofSeconds(30);

    private final LeaseTally handles = new LeaseTally();
    private final LeaseLedger holders;
    private final MemoryBudget budget;
    private final Runnable trim;
    private final Runnable end;
    private final LocalSlabs local;
    private final MeteredSource source;
    private final FabricBulk bulk;
    private final MeteredAllocator allocator = new MeteredAllocator(PooledByteBufAllocator.DEFAULT);

    /// @param listsHolders whether to know who holds each handle, which costs a little for each
    /// @param tree which source, and whether a provider of libfabric carries long messages
    /// @throws IOException if slabs or a provider were asked for, and cannot be had
    Meters(boolean listsHolders, TreeOptions tree) throws IOException {
        holders = listsHolders ? LeaseLedger.full() : null;
        // FFM memory is booked against the JVM's limit for direct memory, which is the maximal heap unless set
        budget = new MemoryBudget(Runtime.getRuntime().maxMemory());
        LeaseTrace trace = listsHolders ? LeaseTrace.both(handles, holders) : handles;
        local = tree.local != null && tree.local.maps() ? slabs(tree, trace) : null;
        if (local != null) {
            boolean seals = tree.local == TreeOptions.Local.SEAL;
            source = new MeteredSource(
                    seals ? new SealSource(local.source(), MemfdSource.create(budget, trace)) : local.source(),
                    new LongAdder());
            trim = local.source()::trim;
            end = local::close;
            bulk = null;
        } else if (tree.memory == TreeOptions.Memory.POOL) {
            SlabSource pool = SlabSource.builder().budget(budget).trace(trace).build();
            source = new MeteredSource(pool, new LongAdder());
            trim = pool::trim;
            bulk = tree.bulk == null ? null : opened(tree.bulk, pool);
            end = () -> {
                if (bulk != null) {
                    bulk.close();
                }
                pool.close();
            };
        } else {
            bulk = null;
            ArenaSource arenas = ArenaSource.create(budget, trace);
            source = new MeteredSource(arenas, new LongAdder());
            trim = () -> {};
            end = arenas::close;
        }
    }

    private LocalSlabs slabs(TreeOptions tree, LeaseTrace trace) throws IOException {
        try {
            return LocalSlabs.open(SlabSource.builder().budget(budget).trace(trace), tree.limit, tree.localFolder);
        } catch (IOException | UnsupportedOperationException cannot) {
            if (tree.localIsAskedFor()) {
                throw new IOException(
                        "cannot lend memory: " + cannot.getMessage() + "; --local bytes does not", cannot);
            }
            return null;
        }
    }

    private static FabricBulk opened(String provider, SlabSource pool) throws IOException {
        boolean open = false;
        try {
            FabricBulk bulk = FabricBulk.open(provider, pool, PinBudget.ofProcess(), BULK_PATIENCE);
            open = true;
            return bulk;
        } finally {
            if (!open) {
                pool.close();
            }
        }
    }

    MemorySource source() {
        return source;
    }

    /// What nodes of this process lend, or `null`.
    LocalSlabs local() {
        return local;
    }

    /// What carries long messages beside the connections, or `null`.
    FabricBulk bulk() {
        return bulk;
    }

    ByteBufAllocator allocator() {
        return allocator;
    }

    MemoryBudget budget() {
        return budget;
    }

    /// Bytes that are still needed: what is free is given back first.
    long bytesInUse() {
        trim.run();
        return budget.used();
    }

    long handlesOpen() {
        return handles.open();
    }

    /// Waits until no handle is open, for a while: an acknowledgement may overtake the close of the handle that
    /// its sender's handler still holds.
    ///
    /// @return handles that are open still
    long awaitHandles() throws InterruptedException {
        for (int wait = 0; handles.open() > 0 && wait < SETTLE_MILLIS; wait++) {
            Thread.sleep(1);
        }
        return handles.open();
    }

    /// Who holds most.
    ///
    /// @return one line, empty if none does or it is not known
    String holders() {
        return holders == null ? "" : holders.summary();
    }

    Reading read() {
        return new Reading(CopyTally.snapshot().copies(), source.bytes.sum() + allocator.bytes() + elsewhereInNetty());
    }

    @Override
    public void close() {
        end.run();
    }

    private static long elsewhereInNetty() {
        return used(UnpooledByteBufAllocator.DEFAULT) + used(ByteBufAllocator.DEFAULT);
    }

    private static long used(ByteBufAllocator allocator) {
        return allocator instanceof ByteBufAllocatorMetricProvider meter
                ? meter.metric().usedDirectMemory() + meter.metric().usedHeapMemory()
                : 0;
    }

    /// Adds up the regions that a source hands out.
    private record MeteredSource(MemorySource source, LongAdder bytes) implements MemorySource {

        @Override
        public Region allocate(long byteSize) {
            Region region = source.allocate(byteSize);
            bytes.add(region.segment().byteSize());
            return region;
        }

        @Override
        public MemorySegment seal(Region region, long used) {
            return source.seal(region, used);
        }

        @Override
        public LeaseTrace trace() {
            return source.trace();
        }
    }
}
