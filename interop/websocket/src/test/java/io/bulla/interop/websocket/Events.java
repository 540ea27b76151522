// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// Reads an event stream as a browser does (WHATWG HTML, 9.2.6).
final class Events {

    /// What a page is told, and the last id.
    record Event(String name, String data, String id) {}

    private Events() {}

    /// The payload of chunks.
    ///
    /// @param wire whole chunks
    /// @throws AssertionError if they are not whole
    static String payload(String wire) {
        byte[] bytes = wire.getBytes(StandardCharsets.ISO_8859_1);
        StringBuilder payload = new StringBuilder();
        int at = 0;
        while (at < bytes.length) {
            int end = wire.indexOf("\r\n", at);
            int length = Integer.parseInt(wire.substring(at, end), 16);
            at = end + 2;
            payload.append(wire, at, at + length);
            at += length;
            if (!wire.startsWith("\r\n", at)) {
                throw new AssertionError("chunk without an end: at=" + at);
            }
            at += 2;
        }
        return new String(payload.toString().getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    static List<Event> parsed(String stream) {
        List<Event> events = new ArrayList<>();
        StringBuilder data = new StringBuilder();
        String name = "";
        String id = "";
        for (String line : stream.split("\r\n|\n|\r", -1)) {
            if (line.isEmpty()) {
                if (!data.isEmpty()) {
                    events.add(new Event(name.isEmpty() ? "message" : name, data.substring(0, data.length() - 1), id));
                }
                data.setLength(0);
                name = "";
                continue;
            }
            int colon = line.indexOf(':');
            String field = colon < 0 ? line : line.substring(0, colon);
            String value = colon < 0 ? "" : line.substring(colon + 1);
            value = value.startsWith(" ") ? value.substring(1) : value;
            switch (field) {
                case "data" -> data.append(value).append('\n');
                case "event" -> name = value;
                case "id" -> id = value.indexOf('\0') < 0 ? value : id;
                default -> {
                    // comments, and what has no meaning
                }
            }
        }
        return events;
    }
}
