// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What the browser itself says of its page, by the events of its protocol: WebSockets, frames, and whatever went
 * wrong. It does not ask the page.
 */
final class Traffic {

    private static final int QUOTES = 200;

    /** A WebSocket of the page. */
    static final class Socket {
        volatile String extensions;
        volatile long messages;
        volatile boolean closed;
        private long last;

        private void onMessage(String text, Queue<String> wrong) {
            Object update = Json.read(text);
            long number = ((Double) Json.at(update, "n")).longValue();
            if (number <= last || ((List<?>) Json.at(update, "quotes")).size() != QUOTES) {
                wrong.add("frame out of order: number=" + number + " last=" + last);
            }
            last = number;
            messages++;
        }
    }

    private final Map<Object, Socket> sockets = new ConcurrentHashMap<>();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    // the newest
    private volatile Socket current;

    void on(Map<?, ?> event) {
        try {
            note((String) event.get("method"), event.get("params"));
        } catch (RuntimeException failure) {
            wrong.add("not understood: " + failure + ": method=" + event.get("method"));
        }
    }

    private void note(String method, Object of) {
        Object id = Json.at(of, "requestId");
        switch (method) {
            case "Network.webSocketCreated" -> {
                Socket fresh = new Socket();
                sockets.put(id, fresh);
                current = fresh;
            }
            case "Network.webSocketHandshakeResponseReceived" -> {
                Map<?, ?> headers = (Map<?, ?>) Json.at(of, "response", "headers");
                sockets.get(id).extensions = headers.entrySet().stream()
                        .filter(each -> each.getKey().toString().equalsIgnoreCase("Sec-WebSocket-Extensions"))
                        .map(each -> each.getValue().toString())
                        .findAny()
                        .orElse("");
            }
            case "Network.webSocketFrameReceived" -> {
                if (Double.valueOf(1).equals(Json.at(of, "response", "opcode"))) {
                    sockets.get(id).onMessage((String) Json.at(of, "response", "payloadData"), wrong);
                }
            }
            case "Network.webSocketClosed" -> sockets.get(id).closed = true;
            case "Network.webSocketFrameError" -> wrong.add("frame: " + Json.at(of, "errorMessage"));
            case "Network.requestWillBeSent" -> {
                String url = (String) Json.at(of, "request", "url");
                if (!url.startsWith("http://127.0.0.1:") && !url.startsWith("data:")) {
                    wrong.add("asks another server: " + url);
                }
            }
            case "Runtime.exceptionThrown" -> wrong.add("exception: " + Json.at(of, "exceptionDetails"));
            case "Runtime.consoleAPICalled" -> {
                if (!"log".equals(Json.at(of, "type")) && !"info".equals(Json.at(of, "type"))) {
                    wrong.add("console: " + Json.at(of, "args"));
                }
            }
            case "Log.entryAdded" -> {
                String level = (String) Json.at(of, "entry", "level");
                if (level.equals("error") || level.equals("warning")) {
                    wrong.add("log: " + Json.at(of, "entry", "text"));
                }
            }
            default -> {
                // of no interest
            }
        }
    }

    /** The newest WebSocket, or {@code null}. */
    Socket current() {
        return current;
    }

    long messages() {
        return sockets.values().stream().mapToLong(each -> each.messages).sum();
    }

    List<String> wrong() {
        return List.copyOf(wrong);
    }
}
