// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import io.bulla.runtime.oob.MessageRefusedException;
import io.bulla.runtime.oob.PeerFailedException;
import io.bulla.runtime.oob.QueueFullException;
import io.bulla.runtime.oob.internal.core.Failures;
import java.util.function.Function;

/// In place of failures: each that is to be made is thrown as an error, as of a heap that is full, or of a test.
record ThrowingFailures(Function<String, Error> error) implements Failures {

    @Override
    public PeerFailedException peerFailed(int peer, String why) {
        throw error.apply(why);
    }

    @Override
    public MessageRefusedException refused(int peer, int tag, long bytes, String why) {
        throw error.apply(why);
    }

    @Override
    public QueueFullException queueFull(String what) {
        throw error.apply(what);
    }
}
