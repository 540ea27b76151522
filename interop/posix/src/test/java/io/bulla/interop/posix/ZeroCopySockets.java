// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import io.bulla.testkit.needs.Probe;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Tries a socket that sends without a copy.
final class ZeroCopySockets implements Probe {

    @Override
    public @Nullable String missing() throws IOException {
        PosixSocket[] pair = SendFixture.tcpPair();
        try (PosixSocket client = pair[0];
                PosixSocket peer = pair[1];
                ZeroCopySocket socket = ZeroCopySocket.over(client)) {
            return peer.isOpen() && socket.plainCalls() == 0 ? null : "plainCalls=" + socket.plainCalls();
        }
    }
}
