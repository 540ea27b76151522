// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// Whether one broadcast is its origin's. It is found out on a thread of its own kind, for a digest of many bytes
/// takes long, and waits for no handler; the broadcast's handler, which runs in its turn, and its confirmation wait
/// for it.
///
/// ```
/// open --run--> genuine, or refused with a reason      the program's handler runs if it is genuine
///   +--dropped, for the node closes--> refused
/// ```
final class OriginCheck extends HandlerExecutor.Item {

    private static final Optional<String> NOT_CHECKED = Optional.of("signature cannot be checked");
    private static final Optional<String> CLOSED = Optional.of("this node is closed");

    private final NodeLoop nodeLoop;
    private final OriginSignatures signatures;
    private final Broadcast broadcast;
    private final SealedBuffer bytes;
    private final byte[] signature;
    // empty: it is genuine
    private final CompletableFuture<Optional<String>> wrong = new CompletableFuture<>();
    private final Runnable told;

    /// Takes ownership of `bytes`.
    OriginCheck(
            NodeLoop nodeLoop, OriginSignatures signatures, Broadcast broadcast, SealedBuffer bytes, byte[] signature) {
        this.nodeLoop = nodeLoop;
        this.signatures = signatures;
        this.broadcast = broadcast;
        this.bytes = bytes;
        this.signature = signature;
        this.told = () -> nodeLoop.broadcasts().checked(broadcast, reason());
    }

    @Override
    void run() {
        Optional<String> found = NOT_CHECKED;
        try {
            found = check();
        } finally {
            end(found);
        }
    }

    @Override
    void drop() {
        end(CLOSED);
    }

    private Optional<String> check() {
        try {
            int mark = broadcast.options.mark();
            byte[] statement = SignedBytes.statement(broadcast.key, broadcast.tag, mark, bytes);
            signatures.check(broadcast.key.origin(), statement, signature);
            return Optional.empty();
        } catch (IOException refused) {
            return Optional.of(String.valueOf(refused.getMessage()));
        } catch (Throwable failure) {
            return Optional.of("signature cannot be checked: " + failure);
        }
    }

    private void end(Optional<String> found) {
        nodeLoop.close(bytes);
        wrong.complete(found);
        nodeLoop.onLoop(told);
    }

    /// Waits until it is known. On the handlers' thread.
    boolean isGenuine() {
        return wrong.join().isEmpty();
    }

    /// Whether it is known not to be genuine.
    boolean isRefused() {
        return wrong.isDone() && wrong.join().isPresent();
    }

    private @Nullable String reason() {
        return wrong.join().orElse(null);
    }
}
