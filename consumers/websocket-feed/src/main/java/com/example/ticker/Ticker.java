// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import io.bulla.buffer.MemorySource;
import io.netty.channel.Channel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Publishes twenty updates a second, in the way that was asked for last. */
final class Ticker implements AutoCloseable {

    private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1) / 20;

    private final MemorySource memory;
    private final Market market = new Market();
    private final ChannelGroup connected = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final Thread thread = new Thread(this::run, "ticker");

    // written under the lock
    private volatile Mode mode;
    private volatile Sending sending;
    // of ways that are over
    private long sentBefore;
    private long missedBefore;

    private volatile boolean stopped;

    Ticker(MemorySource memory, Mode mode) {
        this.memory = memory;
        this.mode = mode;
        this.sending = sending(mode);
    }

    void start() {
        thread.start();
    }

    Mode mode() {
        return mode;
    }

    /** For a client that comes now. */
    Sending sending() {
        return sending;
    }

    /** A client that has shaken hands under a sending. */
    void join(Channel client, Sending under) {
        connected.add(client);
        under.join(client);
    }

    int connected() {
        return connected.size();
    }

    synchronized long sent() {
        return sentBefore + sending.sent();
    }

    synchronized long missed() {
        return missedBefore + sending.missed();
    }

    /** Sends in this way from now on. What a client agreed to cannot be changed: all are closed, and come again. */
    synchronized void use(Mode next) {
        if (next == mode || stopped) {
            return;
        }
        Sending last = sending;
        Sending fresh = sending(next);
        last.close();
        sentBefore += last.sent();
        missedBefore += last.missed();
        sending = fresh;
        mode = next;
    }

    /** Closes all connections without a word, as a network does. */
    void drop() {
        connected.close();
    }

    private Sending sending(Mode of) {
        return of == Mode.PLAIN ? new PlainSending() : new PreparedSending(memory, of == Mode.DEFLATE);
    }

    private void run() {
        long next = System.nanoTime();
        boolean isWell = true;
        while (!stopped) {
            try {
                publish(market.update(System.currentTimeMillis()));
                isWell = true;
            } catch (InterruptedException e) {
                return;
            } catch (Throwable failure) {
                // once for all that follow it
                if (isWell) {
                    System.err.println("websocket-feed: an update failed: " + failure);
                }
                isWell = false;
            }
            next = Math.max(next + PERIOD_NANOS, System.nanoTime() - PERIOD_NANOS);
            LockSupport.parkNanos(next - System.nanoTime());
        }
    }

    private synchronized void publish(String text) throws InterruptedException {
        if (!stopped) {
            sending.publish(text);
        }
    }

    /** Publishes no more, and closes all clients. */
    @Override
    public void close() {
        synchronized (this) {
            stopped = true;
            sending.close();
        }
        LockSupport.unpark(thread);
    }
}
