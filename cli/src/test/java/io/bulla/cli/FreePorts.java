// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Ports of this machine that were free a moment ago.
final class FreePorts {

    private FreePorts() {}

    /// A file for `--peers`, of nodes that are all here.
    ///
    /// @param folder where it is written
    static Path peersFile(Path folder, int size) throws IOException {
        StringBuilder lines = new StringBuilder();
        List<ServerSocket> taken = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            taken.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
            lines.append(rank + " 127.0.0.1:" + taken.getLast().getLocalPort() + "\n");
        }
        for (ServerSocket socket : taken) {
            socket.close();
        }
        return Files.writeString(folder.resolve("peers"), lines);
    }
}
