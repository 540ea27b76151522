// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.core;

import io.bulla.buffer.SealedBuffer;
import io.netty.channel.EventLoop;
import java.lang.System.Logger.Level;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;

/// What every room of a node knows of it: its settings, its event loop with the two clocks, and whether it is closed
/// or suspended.
///
/// One event loop's, but for what says that any thread may call it.
public final class LoopContext {

    private final Settings settings;
    private final EventLoop loop;
    private final Failures failures;
    private final Runnable whenDown;
    private final long incarnation;
    private final long tickNanos;
    private final LongAdder socketBytes = new LongAdder();
    private final LongAdder lentBytes = new LongAdder();
    private long lastTick;
    private long loopTime;
    private boolean suspended;
    private boolean closed;

    /// @param whenDown fails what came too late for a loop that has ended; on any thread
    public LoopContext(Settings settings, EventLoop loop, Failures failures, Runnable whenDown) {
        NodeLog.load();
        this.settings = settings;
        this.lastTick = settings.environment().now();
        this.loop = loop;
        this.failures = failures;
        this.whenDown = whenDown;
        this.incarnation = settings.environment().name();
        this.tickNanos = Math.max(1, Math.min(settings.heartbeatNanos() / 2, settings.peerTimeoutNanos() / 4));
    }

    /// Any thread.
    public Settings settings() {
        return settings;
    }

    /// This node's rank. Any thread.
    public int rank() {
        return settings.rank();
    }

    /// Any thread.
    public Failures failures() {
        return failures;
    }

    /// In nanoseconds, never back. Any thread.
    public long now() {
        return settings.environment().now();
    }

    /// Any thread.
    public EventLoop eventLoop() {
        return loop;
    }

    /// A random number that is this node's for as long as it lives. Any thread.
    public long incarnation() {
        return incarnation;
    }

    /// How often a node looks after its peers, in nanoseconds. Any thread.
    public long tickNanos() {
        return tickNanos;
    }

    /// Time in which this loop turned and was not suspended. Of a time in which it did not turn, because the
    /// machine or the loop was held up, two ticks count: nothing was heard then, and no attempt was made.
    public long loopTime() {
        return suspended ? loopTime : loopTime + Math.min(now() - lastTick, 2 * tickNanos);
    }

    /// The loop turns.
    ///
    /// @return its time
    public long advance(long now) {
        loopTime = loopTime();
        lastTick = now;
        return loopTime;
    }

    /// Whether there are to be no connections for now.
    public boolean isSuspended() {
        return suspended;
    }

    /// No connection begins from now on, and the loop's time stands.
    public void suspend() {
        suspended = true;
    }

    /// The loop's time goes on.
    public void resume() {
        lastTick = now();
        suspended = false;
    }

    public boolean isClosed() {
        return closed;
    }

    public void markClosed() {
        closed = true;
    }

    /// Runs a task on the loop. When that has ended there is nothing left to do but to fail what came too late. Any
    /// thread.
    public void onLoop(Runnable task) {
        onLoop(task, whenDown);
    }

    /// Runs a task on the loop. Any thread.
    ///
    /// @param whenDown as of [#onLoop(EventLoop, Runnable, Runnable)]
    public void onLoop(Runnable task, Runnable whenDown) {
        onLoop(loop, task, whenDown);
    }

    /// Runs a task on a loop. Any thread.
    ///
    /// @param whenDown runs, on any thread, if the loop has ended; perhaps behind the task, if that came in while
    ///     the loop ended, for Netty drops such a task without a word
    public static void onLoop(EventLoop loop, Runnable task, Runnable whenDown) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException loopIsDown) {
            whenDown.run();
            return;
        }
        if (loop.isShutdown()) {
            LoopEnd.then(loop, whenDown);
        }
    }

    /// A user's listener, or what releases a user's memory, may fail: the handle is closed all the same. Any thread.
    public void close(SealedBuffer handle) {
        try {
            handle.close();
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.RELEASE, settings.rank(), failure);
        }
    }

    /// So many bytes were given to a socket.
    public void written(long bytes) {
        socketBytes.add(bytes);
    }

    /// Any thread.
    public long socketBytes() {
        return socketBytes.sum();
    }

    /// So many bytes of messages were lent in place of that.
    public void lent(long bytes) {
        lentBytes.add(bytes);
    }

    /// Any thread.
    public long lentBytes() {
        return lentBytes.sum();
    }

    /// Any thread.
    public void debug(String what) {
        NodeLog.LOG.log(Level.DEBUG, () -> "rank=" + settings.rank() + " " + what);
    }
}
