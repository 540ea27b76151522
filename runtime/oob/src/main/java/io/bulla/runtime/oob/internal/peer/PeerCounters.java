// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

/// Counts of one peer. One event loop's.
final class PeerCounters {

    long sentMessages;
    long sentBytes;
    long receivedMessages;
    long receivedBytes;
    long resends;
    long connections;
    long failures;
}
