// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.buffer.MemoryBudget;

/// A hard limit for what devices pin, in bytes. The system's own limit, met unprepared, is an ENOMEM that names
/// nothing; this one is asked before the device is.
///
/// Bytes that two devices know are counted twice, as the kernel counts them.
public final class PinBudget {

    private static final PinLimits SYSTEM = PinLimits.ask();
    private static final PinBudget OF_PROCESS = new PinBudget(ofSystem(SYSTEM));
    // rings and other things are booked against the same limit
    private static final int LEFT_TO_OTHERS = 16;

    private final long limit;
    // under this monitor
    private long used;
    private long peak;

    /// A budget of its own.
    ///
    /// @param limit in bytes, at least 0
    /// @throws IllegalArgumentException if `limit` is negative
    public PinBudget(long limit) {
        if (limit < 0) {
            throw new IllegalArgumentException("limit is negative: limit=" + limit);
        }
        this.limit = limit;
    }

    /// The one of the process. Its limit is RLIMIT_MEMLOCK, less a sixteenth for what else the kernel books
    /// there; with CAP_IPC_LOCK, or where the system has no such limit, that of [MemoryBudget#ofProcess()]. The
    /// system is asked once.
    ///
    /// @return the same each time
    public static PinBudget ofProcess() {
        return OF_PROCESS;
    }

    static long ofSystem(PinLimits system) {
        return system.privileged() || system.bytes() == Long.MAX_VALUE
                ? MemoryBudget.ofProcess().limit()
                : system.bytes() - system.bytes() / LEFT_TO_OTHERS;
    }

    /// Takes bytes, if there are so many.
    ///
    /// @param bytes at least 0
    /// @return false if the limit forbids it; nothing is taken then
    /// @throws IllegalArgumentException if `bytes` is negative
    public synchronized boolean tryTake(long bytes) {
        checkSize(bytes);
        if (bytes > limit - used) {
            return false;
        }
        used += bytes;
        peak = Math.max(peak, used);
        return true;
    }

    /// Gives bytes back.
    ///
    /// @param bytes that were taken
    /// @throws IllegalArgumentException if `bytes` is negative
    /// @throws IllegalStateException if so many were not taken
    public synchronized void give(long bytes) {
        checkSize(bytes);
        if (bytes > used) {
            throw new IllegalStateException("more given back than taken: bytes=" + bytes + " used=" + used);
        }
        used -= bytes;
    }

    /// Bytes taken now.
    ///
    /// @return 0 to the limit
    public synchronized long used() {
        return used;
    }

    /// The most that was taken at a time.
    ///
    /// @return 0 to the limit
    public synchronized long peak() {
        return peak;
    }

    /// The most that can be taken.
    ///
    /// @return bytes
    public long limit() {
        return limit;
    }

    private static void checkSize(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("fewer than no bytes: bytes=" + bytes);
        }
    }

    /// Used bytes, limit, and what the system said about its own.
    @Override
    public String toString() {
        return "pinned=" + used() + " limit=" + limit + " " + SYSTEM;
    }
}
