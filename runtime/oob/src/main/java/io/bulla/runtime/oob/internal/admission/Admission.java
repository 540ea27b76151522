// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.admission;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.EventExecutor;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Stands in the pipeline of a listening channel and closes at once what is over the limits: before a handler
/// is made for it, and before a byte of it is read. If as many greet as may, the one that has been silent for
/// longest gives way, of the address that has most of them. All on that channel's event loop.
///
/// ```
/// accepted --within the limits--> greeting --greeted()--> connected      the end of the connection leaves either
/// ```
@ChannelHandler.Sharable
public final class Admission extends ChannelInboundHandlerAdapter {

    private final int mostGreeting;
    private final int mostConnections;
    private final int perSecond;
    private final LongSupplier clock;
    private final EventExecutor loop;
    private final RefusalLog log;
    private final AddressRate rate;
    // by address, oldest first: an address has no more than its share when places are short
    private final Map<ByteBuffer, Set<Channel>> greeting = new HashMap<>();
    private final Map<Channel, ByteBuffer> addresses = new HashMap<>();
    private final Set<Channel> evicted = new HashSet<>();
    private int greeters;
    private final LongAdder refused = new LongAdder();
    private int connected;

    /// @param mostGreeting accepted connections that have not said hello yet
    /// @param mostConnections accepted connections in all
    /// @param perSecond accepted connections of one address in a second
    /// @param clock in nanoseconds, such as `System::nanoTime`
    /// @param loop the listening channel's, and the log's
    public Admission(
            int mostGreeting,
            int mostConnections,
            int perSecond,
            LongSupplier clock,
            EventExecutor loop,
            RefusalLog log) {
        this.mostGreeting = mostGreeting;
        this.mostConnections = mostConnections;
        this.perSecond = perSecond;
        this.clock = clock;
        this.loop = loop;
        this.log = log;
        this.rate = new AddressRate(perSecond);
    }

    /// Connections that were closed at once, so far. Any thread.
    public long refused() {
        return refused.sum();
    }

    /// Addresses of connections that have not said hello yet: no other one is remembered here. On the loop.
    public int greetingAddresses() {
        return greeting.size();
    }

    /// An accepted connection has said hello, and who it is has been proven. Any thread.
    public void greeted(Channel accepted) {
        onLoop(() -> {
            if (leave(accepted)) {
                connected++;
            }
        });
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        Channel accepted = (Channel) message;
        try {
            admit(context, accepted);
        } finally {
            if (!accepted.isRegistered() && accepted.isOpen()) {
                // refused; or the heap is full, here or in Netty's own handler, which forgets it then
                leave(accepted);
                accepted.unsafe().closeForcibly();
            }
        }
    }

    private void admit(ChannelHandlerContext context, Channel accepted) {
        SocketAddress remote = accepted.remoteAddress();
        String why = over(remote);
        if (why != null) {
            count(remote, why);
            accepted.unsafe().closeForcibly();
            return;
        }
        if (greeters >= mostGreeting) {
            Channel silent = oldestOfTheMost(AddressRate.key(remote));
            leave(silent);
            evicted.add(silent);
            count(silent.remoteAddress(), "too many that have not said hello: limit=" + mostGreeting);
            silent.close();
        }
        enter(accepted);
        accepted.closeFuture()
                .addListener(closed -> onLoop(() -> {
                    if (!leave(accepted) && !evicted.remove(accepted)) {
                        connected--;
                    }
                }));
        context.fireChannelRead(accepted);
    }

    /// Before it is closed, for a reader that sees that.
    private void count(SocketAddress remote, String why) {
        refused.increment();
        log.refused(remote, why);
    }

    private void enter(Channel accepted) {
        greeting.computeIfAbsent(AddressRate.key(accepted.remoteAddress()), address -> new LinkedHashSet<>())
                .add(accepted);
        addresses.put(accepted, AddressRate.key(accepted.remoteAddress()));
        // after what can fail
        greeters++;
    }

    /// @return false if it did not greet
    private boolean leave(Channel accepted) {
        ByteBuffer address = addresses.remove(accepted);
        if (address == null) {
            return false;
        }
        Set<Channel> same = greeting.get(address);
        if (same != null && same.remove(accepted) && same.isEmpty()) {
            greeting.remove(address);
        }
        greeters--;
        return true;
    }

    /// Of the address that greets most often, and of these that of the newcomer: so one that is flooded with silent
    /// connections, from one address or from many, has a place for who speaks.
    private Channel oldestOfTheMost(ByteBuffer newcomer) {
        Set<Channel> most = greeting.getOrDefault(newcomer, Set.of());
        for (Set<Channel> same : greeting.values()) {
            most = same.size() > most.size() ? same : most;
        }
        return most.iterator().next();
    }

    private @Nullable String over(SocketAddress remote) {
        if (greeters + connected >= mostConnections) {
            return "too many connections: limit=" + mostConnections;
        }
        return rate.admits(remote, clock.getAsLong())
                ? null
                : "too many of one address in a second: limit=" + perSecond;
    }

    private void onLoop(Runnable task) {
        if (loop.inEventLoop()) {
            task.run();
            return;
        }
        try {
            loop.execute(task);
        } catch (RejectedExecutionException loopIsDown) {
            // nothing is accepted any more
        }
    }
}
