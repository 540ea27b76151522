// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.limits;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.EventExecutor;
import java.net.SocketAddress;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/// Stands in the pipeline of a listening channel and closes at once what is over the limits: before a handler
/// is made for it, and before a byte of it is read. All on that channel's event loop.
///
/// ```
/// accepted --within the limits--> greeting --greeted()--> connected      the end of the connection leaves either
/// ```
public final class Admission extends ChannelInboundHandlerAdapter {

    private final int mostGreeting;
    private final int mostConnections;
    private final int perSecond;
    private final LongSupplier clock;
    private final EventExecutor loop;
    private final RefusalLog log;
    private final AddressRate rate;
    private final Set<Channel> greeting = new HashSet<>();
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

    /// An accepted connection has said hello, and who it is has been proven. Any thread.
    public void greeted(Channel accepted) {
        onLoop(() -> {
            if (greeting.remove(accepted)) {
                connected++;
            }
        });
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        Channel accepted = (Channel) message;
        SocketAddress remote = accepted.remoteAddress();
        String why = over(remote);
        if (why != null) {
            // counted first, for whoever sees it closed
            refused.increment();
            log.refused(remote, why);
            accepted.unsafe().closeForcibly();
            return;
        }
        greeting.add(accepted);
        accepted.closeFuture()
                .addListener(closed -> onLoop(() -> {
                    if (!greeting.remove(accepted)) {
                        connected--;
                    }
                }));
        context.fireChannelRead(message);
    }

    private String over(SocketAddress remote) {
        if (greeting.size() + connected >= mostConnections) {
            return "too many connections: limit=" + mostConnections;
        }
        if (greeting.size() >= mostGreeting) {
            return "too many that have not said hello: limit=" + mostGreeting;
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
