// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.internal.admission.AddressRate;
import io.bulla.runtime.oob.internal.admission.Admission;
import io.bulla.runtime.oob.internal.admission.RefusalLog;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// Who is let in, by numbers and by a clock that the test sets.
class AdmissionTest {

    private static final long SECOND = 1_000_000_000;

    private final AtomicLong clock = new AtomicLong(-5);
    private final EmbeddedChannel listener = new EmbeddedChannel();

    private Admission admission(ConnectionLimits limits) {
        Admission admission = new Admission(
                limits.greeting(),
                limits.connections(),
                limits.perSecond(),
                clock::get,
                listener.eventLoop(),
                new RefusalLog(1, listener.eventLoop()));
        listener.pipeline().addLast(admission);
        return admission;
    }

    @Test
    void soManyGreetAtATime() {
        Admission admission = admission(new ConnectionLimits(2, 100, 100));
        Channel first = arrive(listener);
        Channel second = arrive(listener);
        Channel third = arrive(listener);
        assertFalse(first.isOpen(), "it was silent for longest");
        assertTrue(second.isOpen() && third.isOpen());
        admission.greeted(second);
        admission.greeted(second);
        Channel fourth = arrive(listener);
        assertTrue(third.isOpen(), "one has said hello");
        third.close();
        assertTrue(arrive(listener).isOpen() && fourth.isOpen(), "one has left");
        arrive(listener);
        assertTrue(second.isOpen() && !fourth.isOpen(), "who has said hello stays");
        assertEquals(2, admission.refused());
        listener.finishAndReleaseAll();
    }

    @Test
    void addressThatGreetsMostGivesWayToAnother() {
        Admission admission = admission(new ConnectionLimits(4, 100, 100));
        Channel honest = arrive(listener, "192.0.2.9");
        for (int i = 0; i < 20; i++) {
            arrive(listener, "192.0.2.1");
        }
        assertTrue(honest.isOpen(), "it is older than all others, but alone");
        assertTrue(arrive(listener, "192.0.2.8").isOpen());
        assertTrue(honest.isOpen());
        assertEquals(18, admission.refused());
        listener.finishAndReleaseAll();
    }

    @Test
    void whoComesAgainTakesAPlaceOfItsOwn() {
        admission(new ConnectionLimits(5, 100, 100));
        Channel first = arrive(listener, "192.0.2.1");
        List<Channel> others = new ArrayList<>();
        for (int i = 2; i <= 5; i++) {
            others.add(arrive(listener, "192.0.2." + i));
        }
        assertTrue(arrive(listener, "192.0.2.1").isOpen());
        assertFalse(first.isOpen());
        assertTrue(others.stream().allMatch(Channel::isOpen), "each has one, as the one that came again");
        listener.finishAndReleaseAll();
    }

    @Test
    void addressOfWhichOneHasLeftStillGreetsMost() {
        Admission admission = admission(new ConnectionLimits(4, 100, 100));
        Channel honest = arrive(listener, "192.0.2.9");
        List<Channel> many = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            many.add(arrive(listener, "192.0.2.1"));
        }
        many.getFirst().close();
        assertTrue(arrive(listener, "192.0.2.7").isOpen(), "a place is free");
        assertTrue(arrive(listener, "192.0.2.8").isOpen());
        assertTrue(honest.isOpen());
        assertFalse(many.get(1).isOpen());
        assertEquals(4, admission.greetingAddresses());
        honest.close();
        many.getLast().close();
        assertEquals(2, admission.greetingAddresses(), "those that left are not remembered");
        listener.finishAndReleaseAll();
    }

    @Test
    void refusalNamesItsLimit() {
        List<String> logged;
        try (Cluster ear = new Cluster()) {
            Admission admission = admission(new ConnectionLimits(100, 1, 1));
            listener.freezeTime();
            Channel first = arrive(listener);
            arrive(listener);
            listener.advanceTimeBy(10, TimeUnit.SECONDS);
            listener.runScheduledPendingTasks();
            first.close();
            arrive(listener);
            assertEquals(2, admission.refused());
            listener.finishAndReleaseAll();
            logged = List.copyOf(ear.log);
        }
        assertEquals(
                List.of(
                        "refused a connection: rank=1 remote=embedded reason=too many connections: limit=1",
                        "refused a connection: rank=1 remote=embedded reason=too many of one address in a second: limit=1"),
                logged);
    }

    @Test
    void soManyAreConnectedInAll() {
        Admission admission = admission(new ConnectionLimits(100, 3, 100));
        Channel first = arrive(listener);
        for (int i = 0; i < 2; i++) {
            admission.greeted(arrive(listener));
        }
        assertFalse(arrive(listener).isOpen());
        first.close();
        Channel last = arrive(listener);
        assertTrue(last.isOpen());
        admission.greeted(last);
        assertFalse(arrive(listener).isOpen());
        last.close();
        assertTrue(arrive(listener).isOpen(), "one that had said hello has left");
        listener.finishAndReleaseAll();
    }

    @Test
    void addressComesSoOftenInASecond() {
        AddressRate rate = new AddressRate(4);
        InetSocketAddress one = new InetSocketAddress("192.0.2.1", 1);
        for (int i = 0; i < 4; i++) {
            assertTrue(rate.admits(new InetSocketAddress("192.0.2.1", i), 0), "another port, the same address");
        }
        assertFalse(rate.admits(one, 0));
        assertFalse(rate.admits(one, SECOND / 4 - 1));
        assertTrue(rate.admits(one, SECOND / 4));
        assertFalse(rate.admits(one, SECOND / 4));
        assertTrue(rate.admits(new InetSocketAddress("192.0.2.2", 1), 0), "another address");
        for (int i = 0; i < 4; i++) {
            assertTrue(rate.admits(one, 10 * SECOND), "no more than a second's worth is saved up");
        }
        assertFalse(rate.admits(one, 10 * SECOND));
    }

    @Test
    void ipv6AddressesCountByTheirNetwork() {
        AddressRate rate = new AddressRate(1);
        assertTrue(rate.admits(new InetSocketAddress("2001:db8:1:2::1", 1), 0));
        assertFalse(rate.admits(new InetSocketAddress("2001:db8:1:2:ffff::9", 1), 0));
        assertTrue(rate.admits(new InetSocketAddress("2001:db8:1:3::1", 1), 0));
    }

    @Test
    void addressesAreForgottenAndMemoryStaysBounded() {
        AddressRate rate = new AddressRate(1);
        for (int i = 0; i < 3 * AddressRate.ADDRESSES; i++) {
            rate.admits(new InetSocketAddress("10.0." + (i >> 8) + "." + (i & 0xff), 1), 0);
        }
        assertEquals(AddressRate.ADDRESSES, rate.known());
    }

    @Test
    void refusalsAreLoggedOnceASecondWithTheirCount() {
        List<String> logged;
        try (Cluster ear = new Cluster()) {
            admission(new ConnectionLimits(1, 100, 100));
            listener.freezeTime();
            for (int i = 0; i < 12; i++) {
                arrive(listener);
            }
            listener.advanceTimeBy(1, TimeUnit.SECONDS);
            listener.runScheduledPendingTasks();
            listener.finishAndReleaseAll();
            logged = List.copyOf(ear.log);
        }
        String reason = " reason=too many that have not said hello: limit=1";
        assertEquals(
                List.of(
                        "refused a connection: rank=1 remote=embedded" + reason,
                        "refused connections: rank=1 count=10 last=embedded" + reason),
                logged);
    }

    @Test
    void realSocketsOverTheLimitAreClosedAtOnce() throws Exception {
        BlockingQueue<Channel> let = new LinkedBlockingQueue<>();
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        EventLoop accepting = loops.next();
        Admission admission = new Admission(2, 100, 100, System::nanoTime, accepting, new RefusalLog(1, accepting));
        List<Socket> clients = new ArrayList<>();
        try {
            Channel listener = new ServerBootstrap()
                    .group(accepting, accepting)
                    .channel(NioServerSocketChannel.class)
                    .handler(admission)
                    .childHandler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public boolean isSharable() {
                            return true;
                        }

                        @Override
                        public void channelActive(ChannelHandlerContext context) {
                            let.add(context.channel());
                        }
                    })
                    .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .sync()
                    .channel();
            InetSocketAddress address = (InetSocketAddress) listener.localAddress();
            for (int i = 0; i < 3; i++) {
                clients.add(new Socket(address.getAddress(), address.getPort()));
            }
            assertTrue(isClosed(clients.get(0)));
            assertEquals(1, admission.refused());
            List<Channel> open = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                open.add(let.poll(10, TimeUnit.SECONDS));
            }
            open.removeIf(channel -> !channel.isOpen());
            assertEquals(2, open.size());
            admission.greeted(open.getFirst());
            accepting.submit(() -> {}).sync();
            clients.add(new Socket(address.getAddress(), address.getPort()));
            assertTrue(let.poll(10, TimeUnit.SECONDS).isOpen());
            assertTrue(open.stream().allMatch(Channel::isOpen), "one has said hello, so there was a place");
        } finally {
            for (Socket client : clients) {
                client.close();
            }
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    @Test
    void limitsAreAtLeastOne() {
        assertEquals(
                "a limit is at least 1: greeting=1 connections=0 perSecond=1",
                assertThrows(IllegalArgumentException.class, () -> new ConnectionLimits(1, 0, 1))
                        .getMessage());
    }

    private static boolean isClosed(Socket client) throws IOException {
        client.setSoTimeout(10_000);
        try {
            return client.getInputStream().read() < 0;
        } catch (SocketException reset) {
            return true;
        }
    }

    @Test
    void oneThatCannotBeTakenInIsClosedAndHasNoPlace() {
        Admission admission = admission(new ConnectionLimits(2, 100, 100));
        listener.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                throw new OutOfMemoryError("as told");
            }
        });
        EmbeddedChannel fresh = new EmbeddedChannel(false, false) {
            @Override
            protected SocketAddress remoteAddress0() {
                return new InetSocketAddress("1.2.3.4", 1);
            }
        };
        assertThrows(OutOfMemoryError.class, () -> listener.writeInbound(fresh));
        assertFalse(fresh.isOpen());
        assertEquals(0, admission.greetingAddresses());
    }

    private static Channel arrive(EmbeddedChannel listener, String address) {
        EmbeddedChannel fresh = new EmbeddedChannel() {
            @Override
            protected SocketAddress remoteAddress0() {
                return new InetSocketAddress(address, 1);
            }
        };
        listener.writeInbound(fresh);
        return fresh;
    }

    private static Channel arrive(EmbeddedChannel listener) {
        EmbeddedChannel fresh = new EmbeddedChannel();
        listener.writeInbound(fresh);
        return fresh;
    }
}
