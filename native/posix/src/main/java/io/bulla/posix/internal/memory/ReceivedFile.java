// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.memory;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.SealRefusedException;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.Memfd;
import io.bulla.posix.internal.calls.SharedMappings;
import io.bulla.posix.internal.calls.Unmapper;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// Maps sealed memory files that came from another process, once they are checked. Any thread may call.
public final class ReceivedFile {

    private ReceivedFile() {}

    /// Maps a part of a memory file that came from another process, if it is sealed.
    ///
    /// @param descriptor the buffer's from now on, or closed if this fails
    /// @param length at least 0
    /// @return to be closed
    /// @throws SealRefusedException if it is no sealed file with these bytes, or its holes do not fit into
    ///     the budget
    public static SealedBuffer map(Descriptor descriptor, long offset, long length) throws IOException {
        SealedFile file = null;
        try {
            // before there is one more: a process has few of them
            Unmapper.MAPPINGS.keepUp();
            file = open(descriptor, offset, length, MemoryBudget.ofProcess());
        } finally {
            if (file == null) {
                descriptor.close();
            }
        }
        return buffer(file, offset, length);
    }

    /// Takes the descriptor over, unless this fails.
    public static SealedFile open(Descriptor descriptor, long offset, long length, MemoryBudget budget)
            throws IOException {
        int fd = descriptor.fd();
        Memfd.Extent extent = SealCheck.of(fd, SealCheck.SEALED, offset, length);
        long start = offset & -Memfd.PAGE;
        long mapped = Math.max(1, offset - start + length);
        // its whole pages that it has no memory for, as far as they can be in this part
        long holes = Math.min(Memfd.inPages(mapped), Memfd.inPages(extent.bytes()) - extent.taken());
        Hole hole = holes <= 0 ? Hole.NONE : new Hole(budget, holes);
        if (!hole.book()) {
            throw new SealRefusedException("memory file with holes over the budget: holes=" + holes + " used="
                    + budget.used() + " limit=" + budget.limit());
        }
        try {
            return SealedFile.map(fd, descriptor, start, mapped, SharedMappings.areThere(), hole);
        } catch (Throwable failure) {
            hole.run();
            throw failure;
        }
    }

    /// A buffer on a part of a file. It releases the file, also if this fails.
    public static SealedBuffer buffer(SealedFile file, long offset, long length) {
        boolean adopted = false;
        try {
            MemorySegment part = file.memory().asSlice(offset - file.offset(), length);
            Runnable release = file::release;
            // from here on it releases the file, also if it fails
            adopted = true;
            return SealedBuffer.adopt(part, release);
        } finally {
            if (!adopted) {
                file.release();
            }
        }
    }

    /// Bytes that are booked while a file with holes is mapped.
    private record Hole(MemoryBudget budget, long bytes) implements Runnable {

        private static final Hole NONE = new Hole(MemoryBudget.unlimited(), 0);

        boolean book() {
            return budget.tryTake(bytes);
        }

        @Override
        public void run() {
            budget.give(bytes);
        }
    }
}
