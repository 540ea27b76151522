// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.node;

import io.bulla.runtime.oob.internal.connection.ListeningSocket;
import io.bulla.runtime.oob.internal.core.Settings;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
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
public final class Suspension {

    private final NodeLoop nodeLoop;
    // completes when all is closed; null if it is running
    private @Nullable CompletableFuture<Void> closing;
    // the last call, which may be over
    private CompletableFuture<?> last = CompletableFuture.completedFuture(null);
    // the last one that has begun
    private CompletableFuture<?> running = last;

    private Suspension(NodeLoop nodeLoop) {
        this.nodeLoop = nodeLoop;
    }

    /// Of a node that does not listen yet.
    public static Suspension of(NodeLoop nodeLoop) {
        Suspension suspension = new Suspension(nodeLoop);
        nodeLoop.whenClosed(suspension::close);
        return suspension;
    }

    /// Any thread.
    ///
    /// @return completes when all is closed, and the loop has looked for events once more, so that no selector
    ///     knows of a channel, and one without channels is closed; exceptionally if that failed: then it may be
    ///     called again
    public CompletableFuture<Void> begin() {
        return inTurn(() -> closing == null || closing.isCompletedExceptionally() ? suspend() : closing);
    }

    private CompletableFuture<Void> suspend() {
        CompletableFuture<Void> all = new CompletableFuture<>();
        closing = all;
        try {
            nodeLoop.suspend()
                    .thenCompose(closed -> idle())
                    .whenComplete((over, failure) -> complete(all, null, failure));
        } catch (Throwable failure) {
            all.completeExceptionally(failure);
        }
        return all;
    }

    /// The loop has looked for events once more; and closed its selector, if it has no other channels.
    private CompletableFuture<Void> idle() {
        // a loop may let go of a channel some time after it is closed
        return nodeLoop.soon(new CompletableFuture<>(), 1).thenCompose(looked -> behindAll());
    }

    /// Behind the task that closes the selector.
    private CompletableFuture<Void> behindAll() {
        return CompletableFuture.runAsync(() -> {}, nodeLoop.eventLoop());
    }

    /// Any thread.
    ///
    /// @return completes with the address; or exceptionally: then it is suspended still
    public CompletableFuture<InetSocketAddress> end(InetSocketAddress bind) {
        return inTurn(() -> {
            if (closing == null) {
                throw new IllegalStateException("node is not suspended: rank=" + rank());
            }
            Settings settings = nodeLoop.context().settings();
            return ListeningSocket.open(settings.transport(), settings.allocator(), nodeLoop.eventLoop(), null, bind)
                    .thenApply(this::resumed);
        });
    }

    private InetSocketAddress resumed(ListeningSocket socket) {
        CompletableFuture<Void> before = closing;
        boolean resumed = false;
        try {
            if (nodeLoop.context().isClosed()) {
                throw closed();
            }
            closing = null;
            nodeLoop.resume(socket);
            resumed = true;
            return socket.address();
        } finally {
            if (!resumed) {
                closing = before;
                socket.close();
            }
        }
    }

    /// The node closes: what waits for something that does not come any more has failed.
    private void close() {
        IllegalStateException why = closed();
        if (closing != null) {
            closing.completeExceptionally(why);
        }
        // those behind it see that the node is closed
        running.completeExceptionally(why);
    }

    /// One call after the other, as they came. Any thread.
    private <T> CompletableFuture<T> inTurn(Supplier<CompletableFuture<T>> call) {
        CompletableFuture<T> done = new CompletableFuture<>();
        nodeLoop.context()
                .onLoop(
                        () -> {
                            CompletableFuture<?> before = last;
                            CompletableFuture<T> turn = new CompletableFuture<>();
                            last = turn;
                            turn.whenComplete((value, failure) -> complete(done, value, failure));
                            before.whenComplete((over, failure) -> run(call, turn));
                        },
                        () -> done.completeExceptionally(closed()));
        return done;
    }

    private <T> void run(Supplier<CompletableFuture<T>> call, CompletableFuture<T> turn) {
        try {
            if (nodeLoop.context().isClosed()) {
                throw closed();
            }
            running = turn;
            call.get().whenComplete((value, failure) -> complete(turn, value, failure));
        } catch (Throwable failure) {
            turn.completeExceptionally(failure);
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

    private IllegalStateException closed() {
        return new IllegalStateException("node is closed: rank=" + rank());
    }

    private int rank() {
        return nodeLoop.context().settings().rank();
    }
}
