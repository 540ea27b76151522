// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.session;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.pmix.internal.wire.Command;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// A question to the server, until it is answered or given up. The first completion decides: an answer that comes
/// second is closed by the thread that brings it.
public final class Call extends CompletableFuture<SealedBuffer> {

    private final Command command;
    private final @Nullable Runnable whenAnswered;
    // under the session's lock
    int tag;

    /// @param whenAnswered run when the server has answered, also if no thread waits any more; or `null`, and then
    ///     an answer that is too late is an answer to nothing
    public Call(Command command, @Nullable Runnable whenAnswered) {
        this.command = command;
        this.whenAnswered = whenAnswered;
    }

    public Command command() {
        return command;
    }

    /// Whether the server's answer matters after the caller has gone.
    boolean outlivesItsCaller() {
        return whenAnswered != null;
    }

    /// The server has nothing to answer any more.
    void settle() {
        if (whenAnswered != null) {
            whenAnswered.run();
        }
    }

    void answered(SealedBuffer body) {
        settle();
        if (!complete(body)) {
            body.close();
        }
    }

    /// The server has answered, and the answer cannot be taken.
    void refused(Throwable why) {
        settle();
        completeExceptionally(why);
    }
}
