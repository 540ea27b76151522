// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// One mapping of a file. It has an arena of its own, so that a view which is used after the end is an
/// exception and not a fault. One thread at a time changes it.
public final class Mapping extends Unmapper.Freeable {

    private final Arena arena = Arena.ofShared();
    private final long address;
    private final boolean readOnly;
    private long bytes;
    private boolean unmapped;
    private MemorySegment segment;

    private Mapping(long address, long bytes, boolean readOnly) {
        this.address = address;
        this.readOnly = readOnly;
        view(bytes);
    }

    /// Maps a file for writing.
    ///
    /// @throws PosixException if the system refuses
    public static Mapping writable(int fd, long bytes) throws PosixException {
        return of(fd, 0, bytes, true, true);
    }

    /// Maps a sealed file.
    ///
    /// @param offset a multiple of the page size
    /// @param shared false for a private mapping, where the kernel has no shared one for a sealed file
    /// @throws PosixException if the system refuses
    public static Mapping readOnly(int fd, long offset, long bytes, boolean shared) throws PosixException {
        return of(fd, offset, bytes, false, shared);
    }

    /// Takes over memory that is mapped for writing already.
    public static Mapping over(long address, long bytes) {
        return new Mapping(address, bytes, false);
    }

    private static Mapping of(int fd, long offset, long bytes, boolean writable, boolean shared) throws PosixException {
        long address = Memfd.map(fd, offset, bytes, writable, shared);
        if (address == -Errno.ENOMEM.number() && Unmapper.MAPPINGS.freeAll()) {
            // mappings that wait to be ended count, too
            address = Memfd.map(fd, offset, bytes, writable, shared);
        }
        if (address < 0) {
            throw CallFailure.of("mmap", (int) -address, "bytes=" + bytes);
        }
        try {
            return new Mapping(address, bytes, !writable);
        } catch (Throwable failure) {
            unmap(address, bytes);
            throw failure;
        }
    }

    public MemorySegment segment() {
        return segment;
    }

    public long bytes() {
        return bytes;
    }

    /// Makes the mapping larger, in place. The views that there are stay good.
    ///
    /// @return false if something else is in the way; it is as before
    public boolean tryGrow(long wanted) {
        if (Memfd.remap(address, bytes, wanted) < 0) {
            return false;
        }
        // what is mapped now, whatever comes
        bytes = wanted;
        view(wanted);
        return true;
    }

    /// Ends the mapping: views of it throw from here on. Memory that the kernel does not unmap now is
    /// unmapped later. If this fails, it may be called again; once it is done, that does nothing.
    ///
    /// @throws IllegalStateException if a system call of the JDK is in the memory right now; try again later
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
        // once: the addresses may be another mapping's since
        if (unmapped) {
            return;
        }
        // again at once, for the want may be over: a file that is mapped for writing cannot be sealed
        boolean refused = Memfd.unmap(address, bytes) < 0 && Memfd.unmap(address, bytes) < 0;
        unmapped = true;
        if (refused) {
            Unmapper.MAPPINGS.later(this);
        }
    }

    /// Unmaps what no view reaches any more.
    @Override
    public void free() {
        unmapNow(address, bytes);
    }

    /// Unmaps what no view reaches, now or, if the kernel refuses, later.
    public static void unmap(long address, long bytes) {
        if (Memfd.unmap(address, bytes) < 0) {
            Unmapper.MAPPINGS.later(new Leftover(address, bytes));
        }
    }

    private static void unmapNow(long address, long bytes) {
        int result = Memfd.unmap(address, bytes);
        if (result < 0) {
            throw new IllegalStateException("munmap: errno=" + -result + " bytes=" + bytes);
        }
    }

    private static final class Leftover extends Unmapper.Freeable {

        private final long address;
        private final long bytes;

        private Leftover(long address, long bytes) {
            this.address = address;
            this.bytes = bytes;
        }

        @Override
        public void free() {
            unmapNow(address, bytes);
        }
    }

    // restricted: the memory is what mmap gave, of that length, and is unmapped after the arena
    @SuppressWarnings("restricted")
    private void view(long size) {
        MemorySegment all = MemorySegment.ofAddress(address).reinterpret(size, arena, null);
        segment = readOnly ? all.asReadOnly() : all;
        bytes = size;
    }
}
