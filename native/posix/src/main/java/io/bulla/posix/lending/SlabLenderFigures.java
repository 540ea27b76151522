// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

/// Figures of a [SlabLender].
///
/// @param peers borrowers that may have a slab mapped
/// @param leases that they have
/// @param bytes of these
/// @param quarantined leases of borrowers whose connection has ended, and whose string has not
/// @param cutOff borrowers that said what is not true
/// @param refused connections of other users, of those that did not say who they are, and for want of descriptors
/// @param hungUp borrowers whose string has hung up
/// @param reclaimed leases that were closed for them then
/// @param failures of the lender's thread, after which it went on
public record SlabLenderFigures(
        int peers,
        int leases,
        long bytes,
        int quarantined,
        long cutOff,
        long refused,
        long hungUp,
        long reclaimed,
        long failures) {}
