// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// An event loop without channels has no descriptor.
@Needs(Piece.PROC)
class IdleReleasingIoHandlerTest {

    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final int TASKS = 20_000;

    private final Set<String> before = new TreeSet<>();

    @BeforeEach
    void whatIsThere() throws IOException {
        // the first selector opens what the JDK keeps, and so does the first socket
        try (var selector = Selector.open();
                var socket = ServerSocketChannel.open()) {
            assertTrue(selector.isOpen() && socket.isOpen());
        }
        before.addAll(descriptors());
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        Cluster.await("descriptors of the loops are closed", () -> fresh().isEmpty());
    }

    /// Sockets and what waits for them.
    private static Set<String> descriptors() throws IOException {
        Set<String> all = new TreeSet<>();
        try (Stream<Path> each = Files.list(DESCRIPTORS)) {
            for (Path link : each.toList()) {
                String what = target(link);
                if (what.startsWith("socket:") || what.startsWith("anon_inode:")) {
                    all.add(link.getFileName() + " " + what);
                }
            }
        }
        return all;
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException closedMeanwhile) {
            return "";
        }
    }

    private Set<String> fresh() {
        try {
            Set<String> all = descriptors();
            all.removeAll(before);
            return all;
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }

    private void suspendedNodesGoOn(Transport transport, Runnable betweenThem) throws Exception {
        try (Cluster cluster = new Cluster()) {
            cluster.start(2, node -> node.transport(transport).peerTimeout(Duration.ofMinutes(10)));
            for (int round = 0; round < 3; round++) {
                Cluster.delivered(cluster.send(0, 1, 2 * round, 100_000));
                assertFalse(fresh().isEmpty());
                for (OobNode node : cluster.nodes) {
                    node.suspend().toCompletableFuture().get(10, TimeUnit.SECONDS);
                }
                betweenThem.run();
                List<Send> sends = List.of(cluster.send(0, 1, 2 * round + 1, 100_000), cluster.send(1, 0, round, 100));
                for (OobNode node : cluster.nodes) {
                    node.resume(node.address()).toCompletableFuture().get(10, TimeUnit.SECONDS);
                }
                for (Send send : sends) {
                    Cluster.delivered(send);
                }
            }
        }
    }

    @Test
    void suspendedNodesHaveNoneOfNio() throws Exception {
        suspendedNodesGoOn(Transport.NIO, this::noneIsOpen);
    }

    @Test
    void suspendedNodesHaveNoneOfEpoll() throws Exception {
        Piece.EPOLL.orSkip(Epoll.unavailabilityCause());
        suspendedNodesGoOn(
                new Transport(EpollIoHandler.newFactory(), EpollServerSocketChannel.class, EpollSocketChannel.class),
                this::noneIsOpen);
    }

    @Test
    void ringStays() throws Exception {
        Piece.IO_URING.orSkip(IoUring.unavailabilityCause());
        Transport transport = new Transport(
                IoUringIoHandler.newFactory(), IoUringServerSocketChannel.class, IoUringSocketChannel.class);
        suspendedNodesGoOn(transport, () -> assertTrue(fresh().stream().anyMatch(each -> each.endsWith("[io_uring]"))));
    }

    private void noneIsOpen() {
        assertEquals(Set.of(), fresh());
    }

    @Test
    void nodeThatIsClosedAtRestEnds() throws Exception {
        try (Cluster cluster = new Cluster()) {
            cluster.start(1);
            cluster.node(0).suspend().toCompletableFuture().get(10, TimeUnit.SECONDS);
        }
    }

    @Test
    void deadlinesPassAtRest() throws Exception {
        try (Cluster cluster = new Cluster()) {
            cluster.start(2, node -> node.peerTimeout(Duration.ofMinutes(10)));
            cluster.node(0).suspend().toCompletableFuture().get(10, TimeUnit.SECONDS);
            Send late = cluster.send(0, 1, Cluster.TAG, 1, 100, SendOptions.DEFAULT.within(Duration.ofMillis(20)));
            assertThrows(ExecutionException.class, () -> late.get(10, TimeUnit.SECONDS));
        }
    }

    /// The loop rests, is woken by a task, and rests again: each time between the two, a task may come.
    @Test
    void noTaskIsSleptOver() throws Exception {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, Transport.NIO.restingLoops());
        try {
            EventLoop loop = loops.next();
            rest(loops);
            for (int i = 0; i < TASKS; i++) {
                CountDownLatch ran = new CountDownLatch(1);
                loop.execute(ran::countDown);
                assertTrue(ran.await(10, TimeUnit.SECONDS), "task " + i);
            }
        } finally {
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).get(10, TimeUnit.SECONDS);
        }
    }

    @Test
    void interruptedLoopParksAgain() throws Exception {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, Transport.NIO.restingLoops());
        try {
            rest(loops);
            loops.next().submit(() -> Thread.currentThread().interrupt()).get(10, TimeUnit.SECONDS);
            Cluster.await("the interrupt is over", () -> {
                try {
                    return loops.next()
                            .submit(() -> !Thread.currentThread().isInterrupted())
                            .get(10, TimeUnit.SECONDS);
                } catch (Exception failure) {
                    throw new AssertionError(failure);
                }
            });
        } finally {
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).get(10, TimeUnit.SECONDS);
        }
    }

    /// What cannot be made again is an error of the registration, and no end of the loop.
    @Test
    void selectorThatCannotBeMadeIsTheCallersError() throws Exception {
        AtomicBoolean refuses = new AtomicBoolean();
        IoHandlerFactory some = executor -> {
            if (refuses.get()) {
                throw new IllegalStateException("no selector: Too many open files");
            }
            return Transport.NIO.loops().newHandler(executor);
        };
        Transport transport = new Transport(some, Transport.NIO.server(), Transport.NIO.client());
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, transport.restingLoops());
        try {
            rest(loops);
            refuses.set(true);
            assertThrows(ExecutionException.class, () -> bind(loops));
            refuses.set(false);
            rest(loops);
            assertEquals(Set.of(), fresh());
        } finally {
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).get(10, TimeUnit.SECONDS);
        }
    }

    private void rest(EventLoopGroup loops) throws Exception {
        bind(loops).close().get(10, TimeUnit.SECONDS);
        Cluster.await("the loop rests", () -> fresh().isEmpty());
    }

    private static Channel bind(EventLoopGroup loops) throws Exception {
        var bound = new ServerBootstrap()
                .group(loops)
                .channel(Transport.NIO.server())
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel fresh) {
                        fresh.close();
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        bound.get(10, TimeUnit.SECONDS);
        return bound.channel();
    }
}
