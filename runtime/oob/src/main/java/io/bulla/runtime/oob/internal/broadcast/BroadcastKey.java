// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

/// Which broadcast.
///
/// @param origin the rank that sent it
/// @param session of the origin
/// @param number the origin's, from 1 in each session
public record BroadcastKey(int origin, long session, long number) {}
