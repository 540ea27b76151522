// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

/// Figures of a cache of registrations: a snapshot.
///
/// @param registered marks made since the start, for sends, those included that are being made
/// @param granted the same for peers
/// @param evicted idle ones taken back
/// @param refused times that no mark was made
/// @param surprises the device said twice, or unasked, that memory is free, threw, or gave a key that is in use
/// @param marks there now
/// @param markedBytes there now
/// @param quarantined grants that ended and whose device has not stopped, and marks that it may have made when it
///     threw
/// @param quarantinedBytes of them
public record RegistrationFigures(
        long registered,
        long granted,
        long evicted,
        long refused,
        long surprises,
        long marks,
        long markedBytes,
        long quarantined,
        long quarantinedBytes) {}
