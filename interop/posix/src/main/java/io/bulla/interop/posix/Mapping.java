// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/// One mapping of a file. It has an arena of its own, so that a view which is used after the end is an exception
/// and not a fault. One thread at a time changes it.
final class Mapping {

    private final Arena arena = Arena.ofShared();
    private final long address;
    private final boolean readOnly;
    private long bytes;
    private MemorySegment segment;

    private Mapping(long address, long bytes, boolean readOnly) {
        this.address = address;
        this.bytes = bytes;
        this.readOnly = readOnly;
        view(ended -> Memfd.unmap(this.address, this.bytes));
    }

    /// Maps a file for writing.
    ///
    /// @throws PosixException if the system refuses
    static Mapping writable(int fd, long bytes) throws PosixException {
        return of(Memfd.map(fd, 0, bytes, true, true), bytes, false);
    }

    /// Maps a sealed file.
    ///
    /// @param offset a multiple of the page size
    /// @throws PosixException if the system refuses
    static Mapping readOnly(int fd, long offset, long bytes, Guard guard) throws PosixException {
        return of(Memfd.map(fd, offset, bytes, false, guard == Guard.SHARED), bytes, true);
    }

    private static Mapping of(long address, long bytes, boolean readOnly) throws PosixException {
        if (address < 0) {
            throw PosixException.of("mmap", (int) -address, "bytes=" + bytes);
        }
        try {
            return new Mapping(address, bytes, readOnly);
        } catch (Throwable failure) {
            Memfd.unmap(address, bytes);
            throw failure;
        }
    }

    MemorySegment segment() {
        return segment;
    }

    long bytes() {
        return bytes;
    }

    /// Makes the mapping larger, in place. The views that there are stay good.
    ///
    /// @return false if something else is in the way; it is as before
    boolean tryGrow(long wanted) {
        if (Memfd.remap(address, bytes, wanted) < 0) {
            return false;
        }
        bytes = wanted;
        view(null);
        return true;
    }

    /// Ends the mapping: views of it throw from here on.
    ///
    /// @throws IllegalStateException if a system call of the JDK is in the memory right now; try again later
    void close() {
        arena.close();
    }

    // restricted: the memory is what mmap gave, of that length, and ends with the arena
    @SuppressWarnings("restricted")
    private void view(Consumer<MemorySegment> atTheEnd) {
        MemorySegment all = MemorySegment.ofAddress(address).reinterpret(bytes, arena, atTheEnd);
        segment = readOnly ? all.asReadOnly() : all;
    }
}
