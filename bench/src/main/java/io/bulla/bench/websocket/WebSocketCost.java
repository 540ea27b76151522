// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.websocket;

import com.sun.management.ThreadMXBean;
import io.bulla.buffer.ArenaSource;
import io.netty.channel.Channel;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.FutureTask;

/// What a message costs a server for each of 1,000 clients, in handlers alone: processor time and heap of one thread,
/// from the text to what a socket would be given. Pipelines are those of a server, after a real handshake.
public final class WebSocketCost {

    static final int CLIENTS = 1000;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private WebSocketCost() {}

    /// @param args length, then the numbers that are wanted, as `deflate bytes=2048 prepared-cpu`
    public static void main(String[] args) throws Exception {
        Windows.Length length = Windows.Length.valueOf(args[0].toUpperCase(Locale.ROOT));
        List<String> wanted = Arrays.asList(args).subList(1, args.length);
        FutureTask<Void> all = new FutureTask<>(() -> {
            for (Cell cell : Cell.of(wanted)) {
                measure(cell, length);
            }
            return null;
        });
        // as Netty's loops are
        new FastThreadLocalThread(all).start();
        all.get();
    }

    private static void measure(Cell cell, Windows.Length length) throws Exception {
        String text = Way.text(cell.bytes());
        try (ArenaSource memory = ArenaSource.create()) {
            Map<Way, Windows.Broadcast> ways = new EnumMap<>(Way.class);
            for (Way way : cell.ways()) {
                List<Sink> sinks = Sink.all(CLIENTS, way, cell);
                ways.put(way, () -> broadcast(way, memory, text, sinks));
            }
            Windows.print(
                    cell,
                    ways,
                    CLIENTS,
                    length,
                    THREADS::getCurrentThreadCpuTime,
                    THREADS::getCurrentThreadAllocatedBytes);
        }
    }

    static void broadcast(Way way, ArenaSource memory, String text, List<? extends Channel> clients) {
        try (Way.Message message = way.message(memory, text)) {
            for (Channel each : clients) {
                if (!message.write(each).isSuccess()) {
                    throw new IllegalStateException("not written: channel=" + each);
                }
            }
        }
    }
}
