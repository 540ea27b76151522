// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Limits of the system on pinned memory.
///
/// @param bytes of RLIMIT_MEMLOCK, the soft one; `Long.MAX_VALUE` for none, or where it is not known
/// @param privileged whether the process has CAP_IPC_LOCK, for which the limit does not count
record PinLimits(long bytes, boolean privileged) {

    private static final int CAP_IPC_LOCK = 14;

    /// Asks the system.
    static PinLimits ask() {
        try {
            return parse(
                    Files.readString(Path.of("/proc/self/limits")), Files.readString(Path.of("/proc/self/status")));
        } catch (IOException | RuntimeException unknown) {
            // another system, or one that hides it: the device says no by itself
            return new PinLimits(Long.MAX_VALUE, false);
        }
    }

    /// @param limits as in /proc/self/limits
    /// @param status as in /proc/self/status
    static PinLimits parse(String limits, String status) {
        long bytes = Long.MAX_VALUE;
        for (String line : limits.split("\n")) {
            if (line.startsWith("Max locked memory")) {
                String soft =
                        line.substring("Max locked memory".length()).strip().split("\\s+")[0];
                bytes = soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft);
            }
        }
        boolean privileged = false;
        for (String line : status.split("\n")) {
            if (line.startsWith("CapEff:")) {
                long effective = Long.parseUnsignedLong(
                        line.substring("CapEff:".length()).strip(), 16);
                privileged = (effective >> CAP_IPC_LOCK & 1) != 0;
            }
        }
        return new PinLimits(bytes, privileged);
    }

    @Override
    public String toString() {
        return "rlimit=" + (bytes == Long.MAX_VALUE ? "none" : bytes) + " CAP_IPC_LOCK=" + (privileged ? "yes" : "no");
    }
}
