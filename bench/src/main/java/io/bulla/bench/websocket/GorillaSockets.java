// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.websocket;

import io.bulla.bench.numbers.Medians;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/// What a message costs a server in Go, whose prepared messages are gorilla's, for each of the same 1,000 clients.
public final class GorillaSockets {

    private GorillaSockets() {}

    /// @param args the program, length, the cell as `deflate`, `2048`; prints nanoseconds
    public static void main(String[] args) throws Exception {
        Windows.Length length = Windows.Length.valueOf(args[1].toUpperCase(Locale.ROOT));
        Cell cell = new Cell(args[2], Integer.parseInt(args[3]));
        Process server = new ProcessBuilder(List.of(
                        Path.of(args[0]).toString(),
                        cell.kind(),
                        Integer.toString(WebSocketCost.CLIENTS),
                        Long.toString(length.warmupNanos / 1_000_000),
                        Long.toString(length.windowNanos / 1_000_000),
                        Integer.toString(length.windows)))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (OutputStream text = server.getOutputStream()) {
            text.write(Way.text(cell.bytes()).getBytes(StandardCharsets.UTF_8));
        }
        try (BufferedReader said =
                new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.US_ASCII))) {
            Process clients = Clients.start(cell, List.of(line(said)));
            double[] windows = new double[length.windows];
            for (int i = 0; i < windows.length; i++) {
                windows[i] = Double.parseDouble(line(said));
            }
            System.out.println(Medians.of(windows));
            clients.destroy();
            clients.waitFor();
        } finally {
            server.destroy();
            server.waitFor();
        }
    }

    private static String line(BufferedReader said) throws IOException {
        String line = said.readLine();
        if (line == null) {
            throw new IOException("the server in Go has ended");
        }
        return line;
    }
}
