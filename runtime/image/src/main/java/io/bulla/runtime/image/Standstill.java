// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.image;

import io.bulla.runtime.oob.OobNode;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/// Nodes of this process that have no descriptor for a while, and devices that know no memory, so that an
/// image of the process can be taken.
///
/// ```
/// RUNNING --begin--> BUSY --all suspended, all retired--> STILL --end--> BUSY --> RUNNING
///    ^                |
///    +--- a failure: all go on
/// ```
///
/// Sends are taken and queued as ever; each completes once, whatever happens. A node that cannot go on is
/// closed: its sends fail then. So no node stays suspended unless the process stands still.
///
/// A node has no descriptor if its event loop is its own, or one of
/// [io.bulla.runtime.oob.Transport#restingLoops] whose nodes all are in here; but a ring of io_uring stays. Any
/// thread, but for the nodes' event loops.
public final class Standstill {

    private enum State {
        RUNNING,
        BUSY,
        STILL
    }

    private final StandstillOptions options;
    private final List<OobNode> nodes;
    // volatile: one caller at a time, and each after what the one before it did
    private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);

    private Standstill(StandstillOptions options, List<OobNode> nodes) {
        this.options = options;
        this.nodes = nodes;
    }

    /// A process that runs.
    ///
    /// @param options what is done besides suspending
    /// @param nodes all of this process that are open
    /// @return used for any number of images
    public static Standstill of(StandstillOptions options, OobNode... nodes) {
        return new Standstill(options, List.of(nodes));
    }

    /// Whether it stands still.
    ///
    /// @return true from the end of [#begin] to the begin of [#end]
    public boolean isStill() {
        return state.get() == State.STILL;
    }

    /// Suspends all nodes, then retires all marks. Harmless if it stands still already.
    ///
    /// @throws StandstillException if one of the steps failed, or the patience is over: all nodes have gone
    ///     on, or are closed and named
    /// @throws IllegalStateException if another call is at it, of any thread
    public void begin() throws StandstillException {
        if (!enter(State.RUNNING)) {
            return;
        }
        boolean still = false;
        try {
            stop();
            still = true;
        } finally {
            state.set(still ? State.STILL : State.RUNNING);
        }
    }

    /// Binds every node, which connects again, and publishes its address. Harmless if it does not stand
    /// still.
    ///
    /// @throws StandstillException if a node cannot be bound within the patience, it is closed then; or if
    ///     an address could not be published, the node goes on then. All other nodes go on
    /// @throws IllegalStateException if another call is at it, of any thread
    public void end() throws StandstillException {
        if (!enter(State.STILL)) {
            return;
        }
        Trouble trouble = new Trouble();
        try {
            goOn(nodes, trouble);
        } finally {
            state.set(State.RUNNING);
        }
        if (!trouble.isEmpty()) {
            throw trouble.exception();
        }
    }

    private boolean enter(State from) {
        if (state.compareAndSet(from, State.BUSY)) {
            return true;
        }
        if (state.get() == State.BUSY) {
            throw new IllegalStateException("a standstill begins or ends already: nodes=" + ranks());
        }
        return false;
    }

    private void stop() throws StandstillException {
        long end = System.nanoTime() + TimeUnit.NANOSECONDS.convert(options.patience());
        List<OobNode> asked = new ArrayList<>(nodes.size());
        Trouble trouble = new Trouble();
        try {
            suspend(end, asked);
            for (StandstillOptions.Retiring each : options.retiring()) {
                each.retire(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
            }
        } catch (Throwable failure) {
            if (failure instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            // first of all: no node stays suspended, whatever the words throw
            goOn(asked, trouble);
            trouble.addFirst(() -> "process cannot stand still: nodes=" + ranks(), failure);
            throw trouble.exception();
        }
    }

    /// @param asked gets those that may be suspended
    private void suspend(long end, List<OobNode> asked) throws Exception {
        List<CompletionStage<Void>> suspending = new ArrayList<>(nodes.size());
        for (OobNode node : nodes) {
            suspending.add(node.suspend());
            asked.add(node);
        }
        for (CompletionStage<Void> each : suspending) {
            await(each, end);
        }
    }

    private void goOn(List<OobNode> suspended, Trouble trouble) {
        long end = System.nanoTime() + TimeUnit.NANOSECONDS.convert(options.patience());
        List<CompletionStage<InetSocketAddress>> resuming = new ArrayList<>(suspended.size());
        for (OobNode node : suspended) {
            resuming.add(resume(node));
        }
        for (int i = 0; i < suspended.size(); i++) {
            goOn(suspended.get(i), resuming.get(i), end, trouble);
        }
    }

    private CompletionStage<InetSocketAddress> resume(OobNode node) {
        try {
            return node.resume(options.bind().apply(node));
        } catch (Throwable failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    private void goOn(OobNode node, CompletionStage<InetSocketAddress> resuming, long end, Trouble trouble) {
        InetSocketAddress bound;
        try {
            bound = await(resuming, end);
        } catch (Throwable failure) {
            // its loop may be what does not answer, so nothing waits for it
            Thread.ofVirtual().name("bulla-close-" + node.rank()).start(node::close);
            trouble.add(() -> "node cannot go on, and is closed: rank=" + node.rank(), failure);
            return;
        }
        try {
            options.publish().accept(node, bound);
        } catch (Throwable failure) {
            trouble.add(() -> "address of a node is not published: rank=" + node.rank() + " address=" + bound, failure);
        }
    }

    /// Waits through interrupts, which the caller finds again: a node must not be left half way.
    private static <T> T await(CompletionStage<T> stage, long end) throws Exception {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return stage.toCompletableFuture().get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException later) {
                    interrupted = true;
                }
            }
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof Exception cause ? cause : failed;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private List<Integer> ranks() {
        return nodes.stream().map(OobNode::rank).toList();
    }

    /// What went wrong, in order. Its words are made at the end: those of a failure are foreign code, which may fail.
    private static final class Trouble {

        private final List<Supplier<String>> whats = new ArrayList<>();
        private final List<Throwable> causes = new ArrayList<>();

        void add(Supplier<String> what, Throwable cause) {
            whats.add(what);
            causes.add(cause);
        }

        void addFirst(Supplier<String> what, Throwable cause) {
            whats.addFirst(what);
            causes.addFirst(cause);
        }

        boolean isEmpty() {
            return causes.isEmpty();
        }

        StandstillException exception() {
            List<String> messages = new ArrayList<>();
            for (int i = 0; i < causes.size(); i++) {
                messages.add(whats.get(i).get() + " reason=" + reason(causes.get(i)));
            }
            StandstillException exception = new StandstillException(String.join("; ", messages), causes.getFirst());
            causes.stream().skip(1).forEach(exception::addSuppressed);
            return exception;
        }

        private static String reason(Throwable failure) {
            if (failure instanceof TimeoutException) {
                return "no answer of the event loop within the patience";
            }
            try {
                return failure.getMessage() == null ? failure.toString() : failure.getMessage();
            } catch (Throwable withoutWords) {
                return failure.getClass().getName();
            }
        }
    }
}
