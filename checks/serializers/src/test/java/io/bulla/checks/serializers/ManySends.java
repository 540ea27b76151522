// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.serializers;

import io.bulla.buffer.SealedBuffer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/// One message to every socket.
final class ManySends {

    private ManySends() {}

    // page
    static List<Thread> send(SealedBuffer message, List<SocketChannel> sockets) {
        List<Thread> sends = new ArrayList<>();
        for (SocketChannel socket : sockets) {
            SealedBuffer handle = message.share("send"); // one for each send, and no byte is copied
            sends.add(Thread.ofVirtual().start(() -> {
                try (handle) {
                    handle.iovec().writeTo(socket);
                } catch (IOException broken) {
                    throw new UncheckedIOException(broken);
                }
            }));
        }
        return sends;
    }
    // end of page
}
