// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.memfd;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.Mapping;
import io.bulla.posix.internal.calls.Memfd;
import io.bulla.posix.internal.calls.Unmapper;
import io.bulla.posix.internal.memory.SealedFile;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A memory file of its own.
///
/// ```
/// writing: one writable mapping --seal--> sealed: no writable mapping, one read-only --release--> gone
/// ```
///
/// Until it is sealed it belongs to one thread.
final class MemfdRegion extends Unmapper.Freeable implements Region {

    private final Bookings bookings;
    private final int fd;
    private final Descriptor descriptor;
    private @Nullable Mapping writing;
    private @Nullable SealedFile sealed;
    private long booked;

    /// Takes over `fd`, a mapping of all of it, and as many bytes of the budget.
    MemfdRegion(Bookings bookings, int fd, Mapping writing) {
        this.bookings = bookings;
        this.fd = fd;
        this.descriptor = new Descriptor(fd, "memfd");
        this.writing = writing;
        this.booked = writing.bytes();
        bookings.opened();
    }

    @Override
    public MemorySegment segment() {
        if (sealed != null) {
            return sealed.memory();
        }
        return writing == null ? MemorySegment.NULL : writing.segment();
    }

    @Override
    public long byteSize() {
        return booked;
    }

    int fd() {
        return fd;
    }

    /// @param bytes a multiple of the page size, booked by the caller
    /// @return false if the system refuses; all is as before
    boolean grow(long bytes) {
        Mapping last = writing();
        if (Memfd.truncate(fd, bytes) < 0) {
            return false;
        }
        if (!last.tryGrow(bytes) && !move(last, bytes)) {
            return false;
        }
        booked = bytes;
        return true;
    }

    /// @throws PosixException if the system refuses; the region can only be released
    /// @throws IllegalStateException if a system call of the JDK is in the memory; the region is as before
    MemorySegment seal(long used, MappingProtection guard) throws PosixException {
        writing().close();
        writing = null;
        check("ftruncate", Memfd.truncate(fd, used));
        check("fcntl", Memfd.addSeals(fd, Memfd.IMMUTABLE | Memfd.SEAL_SEAL));
        // an empty file can be mapped, and not be looked at
        sealed =
                SealedFile.map(fd, descriptor, 0, Math.max(1, used), guard == MappingProtection.SHARED, this::giveBack);
        long kept = Memfd.inPages(used);
        bookings.give(booked - kept);
        booked = kept;
        return sealed.memory().asSlice(0, used);
    }

    @Override
    public void release() {
        if (sealed != null) {
            sealed.release();
            return;
        }
        try {
            descriptor.close();
        } finally {
            Unmapper.MAPPINGS.later(this);
        }
    }

    /// Frees what was never sealed.
    @Override
    public void free() {
        if (writing != null) {
            writing.close();
            writing = null;
        }
        giveBack();
    }

    /// A second mapping first, so that nothing is lost if it fails.
    private boolean move(Mapping last, long bytes) {
        Mapping moved;
        try {
            moved = Mapping.writable(fd, bytes);
        } catch (PosixException refused) {
            return false;
        }
        try {
            last.close();
        } catch (IllegalStateException inUse) {
            moved.close();
            return false;
        }
        writing = moved;
        return true;
    }

    private Mapping writing() {
        if (writing == null) {
            throw new IllegalStateException("region is over: it was sealed, or a seal of it failed: " + descriptor);
        }
        return writing;
    }

    private void giveBack() {
        bookings.freed(booked);
    }

    private void check(String call, int result) throws PosixException {
        if (result < 0) {
            throw CallFailure.of(call, -result, descriptor.toString());
        }
    }
}
