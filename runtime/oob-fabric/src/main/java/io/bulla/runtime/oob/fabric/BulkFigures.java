// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.fabric;

/// Counters of a [FabricBulk].
///
/// @param sent messages that were written into a peer's memory
/// @param sentBytes their bytes
/// @param received messages that peers have written here
/// @param receivedBytes their bytes
/// @param failed writes that failed, or took too long
public record BulkFigures(long sent, long sentBytes, long received, long receivedBytes, long failed) {}
