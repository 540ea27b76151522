// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import io.bulla.testkit.needs.Probe;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Tries an io_uring that sends without a copy.
final class ZeroCopyRing implements Probe {

    @Override
    public @Nullable String missing() throws IOException {
        try (RingOutbox outbox = RingOutbox.open(SendPath.URING_ZC)) {
            return outbox.path() == SendPath.URING_ZC ? null : "path=" + outbox.path();
        }
    }
}
