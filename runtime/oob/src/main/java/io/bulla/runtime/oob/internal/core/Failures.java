// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.core;

import io.bulla.runtime.oob.MessageRefusedException;
import io.bulla.runtime.oob.PeerFailedException;
import io.bulla.runtime.oob.QueueFullException;

/// Makes the failures that a program sees, whose constructors are no part of the API. Any thread.
public interface Failures {

    PeerFailedException peerFailed(int peer, String why);

    MessageRefusedException refused(int peer, int tag, long bytes, String why);

    QueueFullException queueFull(String what);
}
