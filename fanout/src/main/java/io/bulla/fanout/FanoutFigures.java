// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

/// Counters of a [Fanout] or of [Topics].
///
/// @param subscribers subscribed now
/// @param published messages published
/// @param sent messages handed to transports, counted once for each subscriber
/// @param droppedMessages messages that waited and were dropped: by the policy, or with their subscriber
/// @param droppedSubscribers subscribers closed because they were too slow
/// @param failedSubscribers subscribers closed because a call of their transport threw an exception
/// @param waits publishes that waited for a subscriber
public record FanoutFigures(
        int subscribers,
        long published,
        long sent,
        long droppedMessages,
        long droppedSubscribers,
        long failedSubscribers,
        long waits) {}
