// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.websocket;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// What is measured beside each other: `deflate bytes=2048`.
///
/// @param kind `plain`, `deflate`, `tls`, or `events`, which are plain, too
/// @param bytes of the text
record Cell(String kind, int bytes) {

    private static final Pattern WANTED = Pattern.compile("(plain|deflate|tls|events) bytes=(\\d+) .*");

    /// @param wanted as `deflate bytes=2048 prepared-cpu`
    static Set<Cell> of(List<String> wanted) {
        Set<Cell> cells = new LinkedHashSet<>();
        for (String each : wanted) {
            Matcher matcher = WANTED.matcher(each);
            if (!matcher.matches()) {
                throw new IllegalArgumentException("not a number that can be measured: " + each);
            }
            cells.add(new Cell(matcher.group(1), Integer.parseInt(matcher.group(2))));
        }
        return cells;
    }

    boolean isCompressed() {
        return kind.equals("deflate");
    }

    /// Bytes that are framed already cannot be compressed by Netty.
    List<Way> ways() {
        if (kind.equals("events")) {
            return Way.EVENTS;
        }
        List<Way> ways = new ArrayList<>(Way.MESSAGES);
        if (isCompressed()) {
            ways.remove(Way.RAW);
        }
        return ways;
    }

    /// What a browser asks for.
    static byte[] request(String kind) {
        String more = kind.equals("events")
                ? "Accept: text/event-stream\r\n"
                : "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                        + "Sec-WebSocket-Version: 13\r\n"
                        + "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n";
        return ("GET / HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public String toString() {
        return kind + " bytes=" + bytes;
    }
}
