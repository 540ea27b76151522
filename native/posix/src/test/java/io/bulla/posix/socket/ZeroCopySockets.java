// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.posix.fixtures.SendFixture;
import io.bulla.testkit.needs.Probe;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Tries a socket that sends without a copy.
final class ZeroCopySockets implements Probe {

    private static final int BYTES = 64 << 10;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    @Override
    public @Nullable String missing() throws IOException {
        PosixSocket[] pair = SendFixture.tcpPair();
        try (PosixSocket client = pair[0];
                PosixSocket peer = pair[1];
                ZeroCopySocket socket = ZeroCopySocket.over(client)) {
            socket.send(BufferBuilder.create(ArenaSource.create())
                    .put(new byte[BYTES])
                    .seal());
            boolean finished = socket.finish(PATIENCE);
            return finished && peer.isOpen() && socket.plainCalls() == 0
                    ? null
                    : "sends are plain: calls=" + socket.plainCalls();
        }
    }
}
