// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.handlers.HandlerExecutor;
import io.bulla.runtime.oob.internal.handlers.Incoming;
import io.bulla.runtime.oob.security.OriginSignatures;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/// Whether one broadcast is its origin's. It is found out on a thread of its own kind, for a digest of many bytes
/// takes long, and waits for no handler; the broadcast's handler, which runs in its turn, and its confirmation wait
/// for it.
///
/// ```
/// open --run--> genuine, or refused with a reason      the program's handler runs if it is genuine
///   +--dropped, for the node closes--> refused
/// ```
final class OriginCheck extends HandlerExecutor.Item implements Incoming.Check {

    private static final Optional<String> NOT_CHECKED = Optional.of("signature cannot be checked");
    private static final Optional<String> CLOSED = Optional.of("this node is closed");

    /// The claims of a broadcast.
    ///
    /// @param mark how its bytes are packed
    /// @param signature that is said to be its origin's
    public record Claim(BroadcastKey key, int tag, int mark, byte[] signature) {}

    /// The node, as checks see it.
    ///
    /// @param loop runs a task on the event loop
    /// @param closing closes a handle, whatever its release does
    public record Surround(Consumer<Runnable> loop, Consumer<SealedBuffer> closing) {}

    private final Surround surround;
    private final OriginSignatures signatures;
    private final Claim claim;
    private final SealedBuffer bytes;
    // empty: it is genuine
    private final CompletableFuture<Optional<String>> wrong = new CompletableFuture<>();
    private final Runnable telling;

    /// Takes ownership of `bytes`.
    ///
    /// @param told on the loop, why it is refused; nothing: it is genuine
    OriginCheck(
            Surround surround,
            OriginSignatures signatures,
            Claim claim,
            SealedBuffer bytes,
            Consumer<Optional<String>> told) {
        this.surround = surround;
        this.signatures = signatures;
        this.claim = claim;
        this.bytes = bytes;
        // before there is something to tell
        this.telling = () -> told.accept(wrong.join());
    }

    @Override
    public void run() {
        Optional<String> found = NOT_CHECKED;
        try {
            found = check();
        } finally {
            end(found);
        }
    }

    @Override
    public void drop() {
        end(CLOSED);
    }

    private Optional<String> check() {
        try {
            byte[] statement = SignedBytes.statement(claim.key, claim.tag, claim.mark, bytes);
            signatures.check(claim.key.origin(), statement, claim.signature);
            return Optional.empty();
        } catch (IOException refused) {
            return Optional.of(String.valueOf(refused.getMessage()));
        } catch (Throwable failure) {
            return Optional.of("signature cannot be checked: " + failure);
        }
    }

    private void end(Optional<String> found) {
        surround.closing.accept(bytes);
        wrong.complete(found);
        surround.loop.accept(telling);
    }

    @Override
    public boolean isGenuine() {
        return wrong.join().isEmpty();
    }

    @Override
    public boolean isRefused() {
        return wrong.isDone() && wrong.join().isPresent();
    }
}
