// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

/// Makes the failures that a program sees, whose constructors are no part of the API. Any thread.
interface Failures {

    PeerFailedException peerFailed(int peer, String why);

    MessageRefusedException refused(int peer, int tag, long bytes, String why);

    QueueFullException queueFull(String what);
}
