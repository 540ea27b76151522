// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.websocket;

import io.bulla.buffer.ArenaSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/// Resident memory of a process with 1,000 clients that have each got some messages, in bytes: with the JVM itself.
public final class WebSocketResident {

    private static final int MESSAGES = 50;

    private WebSocketResident() {}

    /// @param args the way, `plain` or `deflate`, bytes of a message
    public static void main(String[] args) throws IOException {
        Way way = Way.valueOf(args[0].toUpperCase(Locale.ROOT));
        Cell cell = new Cell(args[1], Integer.parseInt(args[2]));
        String text = Way.text(cell.bytes());
        try (ArenaSource memory = ArenaSource.create()) {
            List<Sink> clients = Sink.all(WebSocketCost.CLIENTS, way, cell);
            for (int i = 0; i < MESSAGES; i++) {
                WebSocketCost.broadcast(way, memory, text, clients);
            }
            System.out.println(resident() << 10);
        }
    }

    /// In KiB.
    private static long resident() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        throw new IOException("no VmRSS in /proc/self/status");
    }
}
