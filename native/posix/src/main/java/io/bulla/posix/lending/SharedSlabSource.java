// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.pool.PoolFigures;
import io.bulla.pool.Slab;
import io.bulla.pool.SlabSource;
import io.bulla.pool.SlabSupplier;
import io.bulla.posix.internal.calls.MemoryLeft;
import io.bulla.posix.internal.calls.NativeAccess;
import io.bulla.posix.internal.calls.Unmapper;
import io.bulla.posix.internal.memory.SlabFile;
import io.bulla.refcount.LeaseTrace;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// A source whose slabs are memory files that other processes of this host can map, read-only: what is sealed
/// here can be lent to them without a copy, whatever its size.
///
/// ```java
/// SharedSlabSource memory = SharedSlabSource.create();
/// ```
///
/// It is a [SlabSource]: the same carving, reuse, stamps, budget and trimming. Only where slabs come from
/// differs. Each is a memory file with the seals against shrinking, growing, further seals and every writer
/// but this process's mapping, and has all its pages from the start. The slab that was used last is used
/// next.
///
/// Three levels of trust between processes
/// - *Bytes over a socket*: the receiver has a copy of its own.
/// - *[SealedFileHandoff][io.bulla.posix.memfd.SealedFileHandoff]*: the kernel promises that no process
///   changes the bytes. A descriptor per buffer.
/// - *Shared slab*: this process promises it. The kernel keeps every other process from writing; this one
///   can, and uses the memory again once the borrower has given it back. A receiver that does not trust it
///   copies before it checks. And it sees the whole slab, other peers' messages too: one source for each
///   group of processes that trust each other, never for several users.
///
/// A slab takes memory that the kernel does not refuse but kills for. So it is booked in the budget first,
/// and then held against what the machine and the control groups have left.
public final class SharedSlabSource implements MemorySource, AutoCloseable {

    private final Map<Long, SlabFile> files = new ConcurrentHashMap<>();
    private final MemoryLeft left;
    private final SlabSource slabs;

    private SharedSlabSource(SlabSource.Builder options, MemoryLeft left) {
        this.left = left;
        this.slabs = options.supplier(this::take).reuse(true).build();
    }

    /// A source with the pool's defaults.
    ///
    /// @return a source of its own
    /// @throws UnsupportedOperationException if native access is not enabled
    public static SharedSlabSource create() {
        return create(SlabSource.builder());
    }

    /// A source as described: budget, listener, idle time. A slab that is given back and taken again costs
    /// milliseconds, and another hand-over to every peer, so an idle time of seconds is worth it where
    /// messages come in bursts.
    ///
    /// @param options its supplier is replaced, and reuse is on
    /// @return a source of its own
    /// @throws UnsupportedOperationException if native access is not enabled
    public static SharedSlabSource create(SlabSource.Builder options) {
        return within(MemoryLeft.ofMachine(), options);
    }

    static SharedSlabSource within(MemoryLeft left, SlabSource.Builder options) {
        // here: an error in an initializer would come wrapped
        NativeAccess.linker();
        return new SharedSlabSource(options, left);
    }

    @Override
    public @Nullable LeaseTrace trace() {
        return slabs.trace();
    }

    /// Takes a region.
    ///
    /// @throws IllegalArgumentException if `byteSize` is less than 1
    /// @throws MemoryLimitException if the budget forbids another slab, the machine or the control group has
    ///     no memory     for one, or the system refuses it; the budget is as before. Slabs that peers still
    ///     know are theirs until they     have unmapped them: they are asked to, and a later try may succeed
    /// @throws IllegalStateException if the source is closed
    @Override
    public Region allocate(long byteSize) {
        return slabs.allocate(byteSize);
    }

    @Override
    public @Nullable Region grow(Region region, long byteSize) {
        return slabs.grow(region, byteSize);
    }

    @Override
    public MemorySegment seal(Region region, long used) {
        return slabs.seal(region, used);
    }

    /// Gives back what is free, as [SlabSource#trim()]. Peers are asked to unmap what they have no buffer on.
    public void trim() {
        slabs.trim();
    }

    /// Figures of the source: a snapshot.
    ///
    /// @return figures of the time since it was made, and of now
    public PoolFigures figures() {
        return slabs.figures();
    }

    /// Ends the source: no more regions. Buffers that are still open, lent ones included, keep their memory.
    @Override
    public void close() {
        slabs.close();
    }

    /// Ends the source, as [#close()], and waits until all memory is given back.
    ///
    /// @param patience how long to wait
    /// @throws IllegalStateException if handles are still open then, or peers still have slabs mapped
    /// @throws InterruptedException if the thread is interrupted while it waits; the source is closed
    public void close(Duration patience) throws InterruptedException {
        slabs.close(patience);
    }

    @Override
    public String toString() {
        return "SharedSlabSource[" + slabs + "]";
    }

    /// The file that a slab's memory is.
    ///
    /// @param slab that the caller keeps
    /// @return `null` if it is a slab of another source
    @Nullable
    SlabFile file(Slab slab) {
        return files.get(slab.address());
    }

    private SlabSupplier.Memory take(long byteSize) {
        long most = left.bytes();
        if (byteSize > most) {
            throw new MemoryLimitException(
                    "no memory for a shared slab: bytes=" + byteSize + " left=" + most + " files=" + files.size());
        }
        Unmapper.MAPPINGS.keepUp();
        Ending ending = new Ending();
        SlabFile file = SlabFile.create(byteSize, ending);
        try {
            ending.address = file.segment().address();
            files.put(ending.address, file);
            return file;
        } catch (Throwable failure) {
            file.end();
            throw failure;
        }
    }

    /// Takes a file off the list. Under the lock of the slabs, as the next use of its address is.
    private final class Ending implements Runnable {

        private Long address = 0L;

        @Override
        public void run() {
            files.remove(address);
        }
    }
}
