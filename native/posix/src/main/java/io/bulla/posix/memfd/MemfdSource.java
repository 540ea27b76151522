// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.memfd;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.Mapping;
import io.bulla.posix.internal.calls.Memfd;
import io.bulla.posix.internal.calls.Unmapper;
import io.bulla.refcount.LeaseTrace;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The GUARDED source: what was sealed is sealed by the kernel. Each region is a memory file (`memfd_create`) of
/// its own.
///
/// ```
/// allocate: file, one writable mapping --seal--> that mapping ends, F_SEAL_WRITE | SHRINK | GROW | SEAL,
///                                                a read-only mapping, perhaps elsewhere
/// ```
///
/// Guarantees, beyond those of any sealed buffer
/// - *No writer*: no Java code, no `Unsafe`, no native code, no other process that has the descriptor can
///   change a byte or the size. [MappingProtection] says what the kernel adds for the pages of this process.
/// - *One file*: a builder grows its file as far as the budget goes, so its buffer is one region, and can be
///   handed to another process with [SealedFileHandoff].
/// - *A stale view is an exception*: each mapping has an arena, which ends with the last handle.
///
/// The price: a buffer takes a descriptor, a mapping and whole pages, and sealing costs some system calls and the
/// end of an arena, together about 100 microseconds. It is for what is large, or goes to many.
///
/// A memory file that is pinned by the kernel (registered with io_uring, a zero-copy send under way) cannot be
/// sealed; one that is sealed cannot be registered for writing.
///
/// The source holds nothing itself: there is nothing to close, and so nothing that is closed with open handles.
/// Mappings are ended by a thread of this module soon after the last close, and then booked off. Until then the
/// source is in the list of `bulla held`, also when the program has forgotten it.
public final class MemfdSource implements MemorySource {

    private static final long PATIENCE_NANOS = 100_000_000;

    private final MemoryBudget budget;
    private final @Nullable LeaseTrace trace;
    private final MappingProtection guard;
    private final Bookings bookings;

    private MemfdSource(MemoryBudget budget, @Nullable LeaseTrace trace, MappingProtection guard) {
        this.budget = Objects.requireNonNull(budget, "budget");
        this.trace = trace;
        this.guard = guard;
        this.bookings = new Bookings(budget, guard, trace);
    }

    /// A source with defaults: [MemoryBudget#ofProcess()], no listener for handles.
    ///
    /// @return a source of its own
    /// @throws UnsupportedOperationException if the kernel has no memory files, or native access is not enabled
    public static MemfdSource create() {
        return create(MemoryBudget.ofProcess(), null);
    }

    /// A source with a limit.
    ///
    /// @param budget booked in whole pages, before memory is taken
    /// @param trace told of every handle on this source's memory, or `null`
    /// @return a source of its own
    /// @throws UnsupportedOperationException if the kernel has no memory files, or native access is not enabled
    public static MemfdSource create(MemoryBudget budget, @Nullable LeaseTrace trace) {
        return guardedBy(MappingProtection.ofKernel(), budget, trace);
    }

    static MemfdSource guardedBy(MappingProtection guard, MemoryBudget budget, @Nullable LeaseTrace trace) {
        return new MemfdSource(budget, trace, guard);
    }

    /// What the kernel does for the pages of this process.
    ///
    /// @return [MappingProtection#SHARED] on every kernel from 6.7 on
    public MappingProtection guard() {
        return guard;
    }

    @Override
    public @Nullable LeaseTrace trace() {
        return trace;
    }

    /// Takes a memory file.
    ///
    /// @throws IllegalArgumentException if `byteSize` is less than 1
    /// @throws MemoryLimitException if the budget forbids it, or the system has no more memory or descriptors
    @Override
    public Region allocate(long byteSize) {
        if (byteSize < 1) {
            throw new IllegalArgumentException("a region is at least one byte: byteSize=" + byteSize);
        }
        long bytes = Memfd.inPages(byteSize);
        Unmapper.MAPPINGS.keepUp();
        book(bytes);
        try {
            return open(bytes);
        } catch (PosixException refused) {
            bookings.give(bytes);
            throw new MemoryLimitException("the system refuses a memory file: " + refused.getMessage());
        } catch (Throwable failure) {
            bookings.give(bytes);
            throw failure;
        }
    }

    /// Makes the file larger, twice as large if the budget allows it. The memory moves if something is in its
    /// way; no byte is copied.
    @Override
    public @Nullable Region grow(Region region, long byteSize) {
        if (!(region instanceof MemfdRegion file)) {
            return null;
        }
        long before = file.byteSize();
        long wanted = Math.max(Memfd.inPages(byteSize), 2 * before);
        if (!bookings.tryTake(wanted - before)) {
            wanted = Memfd.inPages(byteSize);
            if (!bookings.tryTake(wanted - before)) {
                return null;
            }
        }
        boolean grown = false;
        try {
            grown = file.grow(wanted);
            return grown ? file : null;
        } finally {
            if (!grown) {
                bookings.give(wanted - before);
            }
        }
    }

    /// Seals the file. The bytes are perhaps at another address from then on.
    ///
    /// @throws IllegalStateException if the kernel cannot seal it, because something else has it mapped or
    ///     pinned: the region can only be given back then; or if a system call of the JDK is in the memory
    ///     right now: the region is as before
    @Override
    public MemorySegment seal(Region region, long used) {
        try {
            return ((MemfdRegion) region).seal(used, guard);
        } catch (PosixException refused) {
            throw new IllegalStateException("cannot seal a memory file: " + refused.getMessage(), refused);
        }
    }

    private MemfdRegion open(long bytes) throws PosixException {
        int fd = check("memfd_create", Memfd.create(), bytes);
        try {
            check("ftruncate", Memfd.truncate(fd, bytes), bytes);
            Mapping writing = Mapping.writable(fd, bytes);
            try {
                return new MemfdRegion(bookings, fd, writing);
            } catch (Throwable failure) {
                writing.close();
                throw failure;
            }
        } catch (Throwable failure) {
            Call.current().close(fd);
            throw failure;
        }
    }

    /// Books bytes; if there are none, those that wait to be freed.
    private void book(long bytes) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        boolean worthIt = true;
        while (!bookings.tryTake(bytes)) {
            if (!worthIt) {
                throw new MemoryLimitException("memory budget exceeded: requested=" + bytes + " used=" + budget.used()
                        + " limit=" + budget.limit() + bookings.heldBy());
            }
            // when nothing waits any more, the last may have been freed a moment ago: one more try
            worthIt = Unmapper.MAPPINGS.awaitFreed(deadline);
        }
    }

    private static int check(String call, int result, long bytes) throws PosixException {
        if (result < 0) {
            throw CallFailure.of(call, -result, "bytes=" + bytes);
        }
        return result;
    }
}
