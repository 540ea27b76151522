// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

/// How much one borrower may have at a time. Over it, it gets bytes: a stopped process pins this much and no
/// more.
///
/// @param leases messages, at least 1
/// @param bytes of these messages, at least 1
public record SlabQuota(int leases, long bytes) {

    /// A quota.
    ///
    /// @throws IllegalArgumentException if one of them is less than 1
    public SlabQuota {
        if (leases < 1 || bytes < 1) {
            throw new IllegalArgumentException("a quota is at least one: leases=" + leases + " bytes=" + bytes);
        }
    }

    /// 1,024 messages of together 256 MiB.
    ///
    /// @return the same each time
    public static SlabQuota standard() {
        return new SlabQuota(1024, 256 << 20);
    }
}
