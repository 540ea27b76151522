// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.file;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.device.MemoryRegistrationLookup;
import io.bulla.pool.device.MemoryRegistrationUse;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Descriptor;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Whole blocks on their way to a file: of a region of a buffer, or of memory that the writer copied them to.
/// What the kernel is given is held until it has answered. Belongs to the writer's thread.
final class FileWrite {

    // none: the writer's own memory
    private final @Nullable SealedBuffer buffer;
    private final int region;
    private long address;
    private int length;
    private long at;
    private @Nullable FixedBufferOperation transfer;
    private boolean registered;

    /// @param buffer held by the caller until it has what the kernel answered
    /// @param at where in the file
    FileWrite(@Nullable SealedBuffer buffer, int region, long address, int length, long at) {
        this.buffer = buffer;
        this.region = region;
        this.address = address;
        this.length = length;
        this.at = at;
    }

    /// Gives it to the kernel. After an exception it is not, and nothing is held.
    void begin(FixedBufferTable table, MemoryRegistrationLookup marks, Descriptor file, MemorySegment staging)
            throws PosixException {
        if (buffer == null) {
            transfer = table.writePlain(file, at, address, length, new Reachable(staging));
            return;
        }
        Held held = new Held(buffer.share());
        boolean given = false;
        try {
            MemoryRegistrationUse use = held.use(marks.use(buffer, region));
            registered = use != null;
            transfer = use == null
                    ? table.writePlain(file, at, address, length, held)
                    : table.write(file, at, use.registration(), address, length, held);
            given = true;
        } finally {
            if (!given) {
                held.run();
            }
        }
    }

    /// The kernel has taken the first bytes.
    void skip(int taken) {
        address += taken;
        at += taken;
        length -= taken;
    }

    FixedBufferOperation transfer() {
        return Objects.requireNonNull(transfer, "transfer");
    }

    int length() {
        return length;
    }

    boolean isRegistered() {
        return registered;
    }

    boolean isStaged() {
        return buffer == null;
    }

    @Override
    public String toString() {
        return "at=" + at + " length=" + length + (isStaged() ? " copied" : registered ? " registered" : " plain");
    }

    /// The writer's own memory, until the kernel has answered.
    private record Reachable(MemorySegment memory) implements Runnable {

        @Override
        public void run() {}
    }

    /// A handle and a claim on a mark, until the kernel has answered.
    private static final class Held implements Runnable {

        private final SealedBuffer buffer;
        private @Nullable MemoryRegistrationUse use;

        Held(SealedBuffer buffer) {
            this.buffer = buffer;
        }

        @Nullable
        MemoryRegistrationUse use(@Nullable MemoryRegistrationUse found) {
            use = found;
            return found;
        }

        @Override
        public void run() {
            try (buffer) {
                if (use != null) {
                    use.close();
                }
            }
        }
    }
}
