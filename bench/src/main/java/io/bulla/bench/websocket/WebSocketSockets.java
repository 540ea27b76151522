// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.websocket;

import com.sun.management.ThreadMXBean;
import io.bulla.bench.programs.ProcessorTime;
import io.bulla.buffer.ArenaSource;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.SelfSignedCertificate;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// What a message costs a server for each of 1,000 clients behind real sockets, which are in another process:
/// processor time of the whole server, the kernel's for it included, and heap.
public final class WebSocketSockets {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private WebSocketSockets() {}

    /// @param args length, then the numbers that are wanted, as `tls bytes=2048 prepared-cpu`
    public static void main(String[] args) throws Exception {
        Windows.Length length = Windows.Length.valueOf(args[0].toUpperCase(Locale.ROOT));
        for (Cell cell : Cell.of(Arrays.asList(args).subList(1, args.length))) {
            medians(cell, cell.ways(), Transport.NIO, length)
                    .forEach((name, median) -> System.out.printf(Locale.ROOT, "%s=%.1f%n", name, median));
        }
        System.exit(0);
    }

    /// Each way has 1,000 clients of its own.
    static Map<String, Double> medians(Cell cell, List<Way> measured, Transport transport, Windows.Length length)
            throws Exception {
        String text = Way.text(cell.bytes());
        SslContext tls = cell.kind().equals("tls") ? tls() : null;
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, transport.handlers());
        Map<Way, SocketServer> servers = new EnumMap<>(Way.class);
        for (Way way : measured) {
            servers.put(way, new SocketServer(way, cell, WebSocketCost.CLIENTS, transport, loop, tls));
        }
        Process clients = Clients.start(
                cell, servers.values().stream().map(SocketServer::port).toList());
        try (ArenaSource memory = ArenaSource.create()) {
            Map<Way, Windows.Broadcast> ways = new EnumMap<>(Way.class);
            for (Map.Entry<Way, SocketServer> each : servers.entrySet()) {
                SocketServer server = each.getValue();
                server.awaitClients();
                ways.put(each.getKey(), () -> server.broadcast(memory, text));
            }
            Map<String, Double> medians = Windows.medians(
                    cell,
                    ways,
                    WebSocketCost.CLIENTS,
                    length,
                    ProcessorTime::nanos,
                    THREADS::getTotalThreadAllocatedBytes);
            for (SocketServer each : servers.values()) {
                each.close();
            }
            return medians;
        } finally {
            clients.destroy();
            clients.waitFor();
            loop.shutdownGracefully().sync();
        }
    }

    @SuppressWarnings("deprecation") // good enough for bytes that no other code sees
    private static SslContext tls() throws Exception {
        SelfSignedCertificate certificate = new SelfSignedCertificate();
        return SslContextBuilder.forServer(certificate.key(), certificate.cert())
                .sslProvider(SslProvider.JDK)
                .protocols("TLSv1.3")
                .build();
    }
}
