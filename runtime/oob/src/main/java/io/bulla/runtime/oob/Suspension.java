// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/// A node without a port and connections for a while; its sessions stay, and time that passes is no reason for a
/// verdict.
///
/// ```
/// RUNNING --suspend--> SUSPENDING --all closed--> SUSPENDED --resume--> BINDING --> RUNNING
///                                                     ^                    |
///                                                     +--- cannot bind ----+
/// ```
///
/// One event loop's, but for the calls from outside.
final class Suspension {

    private final NodeLoop nodeLoop;
    // completes when all is closed; null if it is running
    private @Nullable CompletableFuture<Void> closing;
    // completes when it runs again; null if it is not told to
    private @Nullable CompletableFuture<InetSocketAddress> resuming;

    Suspension(NodeLoop nodeLoop) {
        this.nodeLoop = nodeLoop;
    }

    boolean isOn() {
        return closing != null;
    }

    /// Any thread. Beside a resume that is on its way it begins when that is over.
    ///
    /// @return completes when all is closed, and the loop has looked for events once more, so that no selector
    ///     knows of a channel; exceptionally if that failed: then it may be called again
    CompletableFuture<Void> begin() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        onLoop(done, () -> {
            if (resuming == null) {
                begun(done);
            } else {
                resuming.whenComplete((bound, failure) -> begun(done));
            }
        });
        return done;
    }

    private void begun(CompletableFuture<Void> done) {
        CompletableFuture<Void> all = closing;
        if (all == null || all.isCompletedExceptionally()) {
            all = nodeLoop.isClosed() ? CompletableFuture.failedFuture(closed()) : suspend();
        }
        all.whenComplete((over, failure) -> complete(done, null, failure));
    }

    private CompletableFuture<Void> suspend() {
        CompletableFuture<Void> all = new CompletableFuture<>();
        // no connection begins from now on
        closing = all;
        try {
            nodeLoop.suspend()
                    .thenCompose(closed -> nodeLoop.soon(new CompletableFuture<>(), 1))
                    .whenComplete((over, failure) -> complete(all, null, failure));
        } catch (Throwable failure) {
            all.completeExceptionally(failure);
        }
        return all;
    }

    /// Any thread.
    ///
    /// @return completes with the address; or exceptionally: then it is suspended still
    CompletableFuture<InetSocketAddress> end(InetSocketAddress bind) {
        CompletableFuture<InetSocketAddress> done = new CompletableFuture<>();
        onLoop(done, () -> {
            if (closing == null || resuming != null) {
                throw new IllegalStateException(
                        "node is not suspended: rank=" + rank() + " resuming=" + (resuming != null));
            }
            resuming = done;
            Settings settings = nodeLoop.settings();
            closing.thenCompose(closed -> ListeningSocket.open(
                            settings.transport(), settings.allocator(), nodeLoop.eventLoop(), null, bind))
                    .whenComplete((socket, failure) -> {
                        resuming = null;
                        if (failure == null) {
                            resumed(socket, done);
                        } else {
                            complete(done, null, failure);
                        }
                    });
        });
        return done;
    }

    private void resumed(ListeningSocket socket, CompletableFuture<InetSocketAddress> done) {
        CompletableFuture<Void> before = closing;
        Throwable wrong = nodeLoop.isClosed() ? closed() : null;
        if (wrong == null) {
            closing = null;
            try {
                nodeLoop.resume(socket);
            } catch (Throwable failure) {
                closing = before;
                wrong = failure;
            }
        }
        if (wrong != null) {
            socket.close();
        }
        complete(done, socket.address(), wrong);
    }

    /// The node closes: nothing that was begun comes to an end.
    void close() {
        if (closing != null) {
            closing.completeExceptionally(closed());
        }
        if (resuming != null) {
            resuming.completeExceptionally(closed());
        }
    }

    private static <T> void complete(CompletableFuture<T> done, @Nullable T value, @Nullable Throwable failure) {
        if (failure == null) {
            done.complete(value);
        } else {
            done.completeExceptionally(
                    failure instanceof CompletionException && failure.getCause() != null
                            ? failure.getCause()
                            : failure);
        }
    }

    private void onLoop(CompletableFuture<?> done, Runnable task) {
        try {
            nodeLoop.eventLoop().execute(() -> {
                if (nodeLoop.isClosed()) {
                    done.completeExceptionally(closed());
                    return;
                }
                try {
                    task.run();
                } catch (Throwable failure) {
                    done.completeExceptionally(failure);
                }
            });
        } catch (RejectedExecutionException loopIsDown) {
            done.completeExceptionally(closed());
        }
    }

    private IllegalStateException closed() {
        return new IllegalStateException("node is closed: rank=" + rank());
    }

    private int rank() {
        return nodeLoop.settings().rank();
    }
}
