// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

/// Counters of a [Broadcast].
///
/// @param streams subscribed now
/// @param published messages published
/// @param sent messages handed to gRPC, counted once for each stream
/// @param droppedMessages messages that waited and were dropped: to keep a queue's bound, or with their stream
/// @param droppedStreams streams closed because they were too slow
/// @param failedStreams streams closed because a send threw an exception
/// @param waits publishes that waited for a stream
public record BroadcastFigures(
        int streams,
        long published,
        long sent,
        long droppedMessages,
        long droppedStreams,
        long failedStreams,
        long waits) {}
