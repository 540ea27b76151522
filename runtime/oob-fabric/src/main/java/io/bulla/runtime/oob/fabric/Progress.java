// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.fabric;

import io.bulla.fabric.FabricDomain;
import io.bulla.fabric.FabricException;
import io.bulla.fabric.FabricWrite;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The thread on which a fabric makes progress: while a peer may write here, or something of this process
/// is being written. Else it sleeps.
///
/// Between two looks at the fabric it yields, and after some in vain it sleeps a little, so that the
/// domain's monitor is free for event loops.
final class Progress {

    private static final Logger LOG = System.getLogger("io.bulla.runtime.oob.fabric.FabricBulk");
    private static final int EAGER = 64;
    private static final int LAZY = 4096;
    private static final long SHORT_NANOS = 20_000;
    private static final long LONG_NANOS = 500_000;

    private record Write(FabricWrite write, long bytes, long deadline, CompletableFuture<Void> result) {}

    private final FabricDomain domain;
    private final Thread thread;
    // under this monitor, as all below; the fabric is not called under it
    private final List<Write> writes = new ArrayList<>();
    private final Set<FabricLine> lines = new LinkedHashSet<>();
    private int landings;
    private boolean closed;
    private long sent;
    private long sentBytes;
    private long received;
    private long receivedBytes;
    private long failed;

    Progress(FabricDomain domain) {
        this.domain = domain;
        this.thread = Thread.ofPlatform()
                .daemon()
                .name("bulla-fabric-" + domain.provider().name())
                .unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    synchronized void add(FabricLine line) throws IOException {
        if (closed) {
            throw closed();
        }
        lines.add(line);
    }

    synchronized void remove(FabricLine line) {
        lines.remove(line);
    }

    /// A peer may write here from now on.
    synchronized void landingBegins() {
        landings++;
        notifyAll();
    }

    /// @param bytes that have arrived; -1 if it is void
    synchronized void landingEnds(long bytes) {
        landings--;
        if (bytes >= 0) {
            received++;
            receivedBytes += bytes;
        }
    }

    /// A write is looked after from now on.
    synchronized void begins(FabricWrite write, long bytes, long deadline, CompletableFuture<Void> result)
            throws IOException {
        if (closed) {
            throw closed();
        }
        writes.add(new Write(write, bytes, deadline, result));
        notifyAll();
    }

    synchronized BulkFigures figures() {
        return new BulkFigures(sent, sentBytes, received, receivedBytes, failed);
    }

    /// Ends the thread, and fails what is under way. Again does nothing. Out of a completion or a listener of a line,
    /// told on that thread, or of a release, told under the monitor that it needs, the thread ends behind them.
    void close() {
        List<FabricLine> open;
        synchronized (this) {
            closed = true;
            notifyAll();
            open = List.copyOf(lines);
        }
        boolean interrupted = false;
        boolean waits = thread != Thread.currentThread() && !Thread.holdsLock(domain);
        while (waits && thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException stop) {
                // it ends within one look at the fabric
                interrupted = true;
            }
        }
        tell(open, closed());
        endWritten();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static IOException closed() {
        return new IOException("fabric is closed");
    }

    private void run() {
        int inVain = 0;
        while (awaitWork()) {
            try {
                boolean some = domain.progress() > 0;
                some |= endWritten();
                inVain = some ? 0 : inVain + 1;
            } catch (FabricException refused) {
                fail(FabricBulk.asFailure("fabric makes no progress", refused));
                inVain = LAZY;
            } catch (Throwable failure) {
                log(Trouble.THREAD, failure);
                inVain = LAZY;
            }
            rest(inVain);
        }
    }

    private static void rest(int inVain) {
        if (inVain < EAGER) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(inVain < LAZY ? SHORT_NANOS : LONG_NANOS);
        }
    }

    /// @return false if this is closed
    private synchronized boolean awaitWork() {
        while (!closed && landings == 0 && writes.isEmpty()) {
            try {
                wait();
            } catch (InterruptedException ignored) {
                // this thread ends when it is told to
            }
        }
        return !closed;
    }

    private void fail(IOException why) {
        List<FabricLine> all;
        synchronized (this) {
            all = List.copyOf(lines);
        }
        tell(all, why);
    }

    /// Each, whatever the listener of another throws.
    private void tell(List<FabricLine> all, IOException why) {
        for (FabricLine line : all) {
            try {
                line.fails(why);
            } catch (Throwable thrown) {
                log(Trouble.LISTENER, thrown);
            }
        }
    }

    /// What is logged. No literal at its place: the first use of one takes heap, and would throw out of the loop.
    private enum Trouble {
        THREAD("fabric thread"),
        LISTENER("listener of a line failed"),
        WRITE("write was not ended");

        private final String text;

        Trouble(String text) {
            this.text = text;
        }
    }

    private void log(Trouble what, Throwable thrown) {
        try {
            LOG.log(Level.ERROR, what.text + ": domain=" + domain, thrown);
        } catch (Throwable noLine) {
            // those behind it are told
        }
    }

    private boolean endWritten() {
        List<Write> ended = new ArrayList<>();
        boolean all;
        synchronized (this) {
            ended.addAll(writes);
            all = closed;
        }
        long now = System.nanoTime();
        // not under the monitor: it takes the domain's, under which a release may ask for this one
        ended.removeIf(each -> !all && !each.write.isDone() && now - each.deadline <= 0);
        synchronized (this) {
            // one of two threads that look ends it
            ended.removeIf(each -> !writes.remove(each));
        }
        ended.forEach(this::endGuarded);
        return !ended.isEmpty();
    }

    private void endGuarded(Write over) {
        try {
            end(over);
        } catch (Throwable thrown) {
            log(Trouble.WRITE, thrown);
            over.result.completeExceptionally(thrown);
        }
    }

    private void end(Write over) {
        Throwable failure = failureOf(over);
        synchronized (this) {
            sent += failure == null ? 1 : 0;
            sentBytes += failure == null ? over.bytes : 0;
            failed += failure == null ? 0 : 1;
        }
        if (failure == null) {
            over.result.complete(null);
        } else {
            over.result.completeExceptionally(failure);
        }
    }

    /// @return `null` if all is in the peer's memory
    private static @Nullable Throwable failureOf(Write over) {
        if (!over.write.isDone()) {
            // the fabric may still read the buffer: the line's end ends that
            return new TimeoutException("not written in time: " + over.write);
        }
        try {
            over.write.await(Duration.ZERO);
            return null;
        } catch (FabricException | TimeoutException refused) {
            return refused;
        }
    }
}
