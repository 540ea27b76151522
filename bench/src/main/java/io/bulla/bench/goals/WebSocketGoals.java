// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.websocket.GorillaSockets;
import io.bulla.bench.websocket.PreparedSockets;
import io.bulla.bench.websocket.WebSocketCost;
import io.bulla.bench.websocket.WebSocketResident;
import io.bulla.bench.websocket.WebSocketSockets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// One WebSocket message, or one event, to 1,000 clients: what it costs the server for each of them.
public final class WebSocketGoals {

    private static final SharedRun HANDLERS = SharedRun.program(
            WebSocketCost.class, length -> List.of(length.name().toLowerCase(Locale.ROOT)));
    private static final SharedRun SOCKETS = SharedRun.program(
            WebSocketSockets.class, length -> List.of(length.name().toLowerCase(Locale.ROOT)));
    private static final String PLAIN = "plain bytes=2048";
    private static final String DEFLATE = "deflate bytes=2048";
    private static final String DEFLATE_16K = "deflate bytes=16384";
    private static final String TLS = "tls bytes=2048";
    private static final String EVENTS = "events bytes=2048";
    private static final int MOST_HEAP = 200;

    private WebSocketGoals() {}

    public static List<Goal> all() {
        List<Goal> goals = new ArrayList<>();
        goals.add(Goal.timesFaster(
                50, "websocket-deflate-2k", handlers(DEFLATE, "prepared"), handlers(DEFLATE, "frame")));
        goals.add(Goal.timesFaster(
                200, "websocket-deflate-16k", handlers(DEFLATE_16K, "prepared"), handlers(DEFLATE_16K, "frame")));
        goals.add(Goal.atMost(0.7, "websocket-plain", handlers(PLAIN, "prepared"), handlers(PLAIN, "frame")));
        goals.add(Goal.atMost(1.1, "websocket-plain-raw", handlers(PLAIN, "prepared"), handlers(PLAIN, "raw")));
        for (String cell : List.of(PLAIN, DEFLATE)) {
            String name = "websocket-heap" + (cell.equals(DEFLATE) ? "-deflate" : "");
            Case heap = number(HANDLERS, "handlers", cell, "prepared-heap", "bytes");
            goals.add(Goal.atMost(1, name, heap, Case.limit(MOST_HEAP, "bytes")));
            goals.add(Goal.compare(name + "-frame", heap, number(HANDLERS, "handlers", cell, "frame-heap", "bytes")));
        }
        goals.add(Goal.compare("websocket-events", handlers(EVENTS, "event"), handlers(EVENTS, "chunk")));
        goals.add(Goal.atMost(
                1,
                "websocket-events-heap",
                number(HANDLERS, "handlers", EVENTS, "event-heap", "bytes"),
                Case.limit(MOST_HEAP, "bytes")));
        goals.add(Goal.timesFaster(3, "websocket-resident-deflate", resident("prepared"), resident("frame")));
        goals.add(Goal.atMost(
                0.5, "websocket-sockets-deflate-2k", sockets(DEFLATE, "prepared"), sockets(DEFLATE, "frame")));
        goals.add(Goal.compare("websocket-sockets-plain", sockets(PLAIN, "prepared"), sockets(PLAIN, "frame")));
        goals.add(Goal.compare("websocket-sockets-plain-raw", sockets(PLAIN, "prepared"), sockets(PLAIN, "raw")));
        goals.add(Goal.atMost(
                1,
                "websocket-sockets-heap",
                number(SOCKETS, "sockets", PLAIN, "prepared-heap", "bytes"),
                Case.limit(MOST_HEAP, "bytes")));
        for (String kind : List.of("deflate", "plain")) {
            String name = "websocket-sockets-" + (kind.equals("deflate") ? "deflate-2k" : kind) + "-gorilla";
            Case gorilla = gorilla(kind);
            goals.add(Goal.atMost(1, name, alone(kind, "io_uring"), gorilla));
            goals.add(Goal.compare(name + "-nio", alone(kind, "nio"), gorilla));
        }
        goals.add(Goal.atMost(1.02, "websocket-sockets-tls", sockets(TLS, "prepared"), sockets(TLS, "raw")));
        goals.add(Goal.compare("websocket-sockets-events", sockets(EVENTS, "event"), sockets(EVENTS, "chunk")));
        return goals;
    }

    private static Case handlers(String cell, String way) {
        return number(HANDLERS, "handlers", cell, way + "-cpu", "ns");
    }

    private static Case sockets(String cell, String way) {
        return number(SOCKETS, "sockets", cell, way + "-cpu", "ns");
    }

    private static Case number(SharedRun run, String where, String cell, String which, String unit) {
        String what = cell + " " + which;
        return new Case("websocket[" + where + "," + what.replace(' ', ',') + "]", unit, run.reading(what));
    }

    /// Ours in a process of its own, as Go's is.
    private static Case alone(String kind, String transport) {
        return new Case("websocket[alone," + transport + "," + kind + ",bytes=2048]", "ns", length -> {
            String said = Case.lines(
                            PreparedSockets.class, length.name().toLowerCase(Locale.ROOT), transport, kind, "2048")
                    .getLast();
            if (said.startsWith(PreparedSockets.NONE)) {
                throw new Case.Skipped("no " + transport + " here: " + said.substring(PreparedSockets.NONE.length()));
            }
            return Double.parseDouble(said);
        });
    }

    /// Go's, where it is installed.
    private static Case gorilla(String kind) {
        return new Case("websocket[gorilla," + kind + ",bytes=2048]", "ns", length -> {
            Path program = Path.of(System.getProperty("bulla.c", "bench/target/c"), "go_websocket");
            if (!Files.isExecutable(program)) {
                throw new Case.Skipped("no Go with gorilla/websocket: program not built: " + program);
            }
            return Double.parseDouble(Case.lines(
                            GorillaSockets.class,
                            program.toString(),
                            length.name().toLowerCase(Locale.ROOT),
                            kind,
                            "2048")
                    .getLast());
        });
    }

    private static Case resident(String way) {
        return Case.program("bytes", WebSocketResident.class, way, "deflate", "2048");
    }
}
