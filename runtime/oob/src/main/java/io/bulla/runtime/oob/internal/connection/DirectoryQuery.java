// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.bulla.runtime.oob.topology.PeerDirectory;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/// One question to the directory, where a peer listens, until it is answered or forgotten.
///
/// The directory's stage gets nothing of the node but a future, which lets go of the node when it is forgotten: a
/// stage that never completes keeps no node in memory.
final class DirectoryQuery {

    private record Answer(
            @Nullable List<SocketAddress> addresses,
            @Nullable Throwable failure) {}

    private final CompletableFuture<Answer> answer = new CompletableFuture<>();

    /// Asks; what the directory throws is its answer.
    void ask(PeerDirectory directory, int rank) {
        try {
            pass(Objects.requireNonNull(directory.lookUp(rank), "directory returned no stage"), answer);
        } catch (Throwable failure) {
            answer.complete(new Answer(null, failure));
        }
    }

    private static void pass(CompletionStage<List<SocketAddress>> from, CompletableFuture<Answer> to) {
        from.whenComplete((addresses, failure) -> to.complete(new Answer(addresses, failure)));
    }

    boolean isAnswered() {
        return answer.isDone();
    }

    /// @param then runs once, on whichever thread answers or forgets
    void whenOver(Runnable then) {
        answer.whenComplete((given, forgotten) -> then.run());
    }

    /// No answer is wanted any more.
    void forget() {
        answer.cancel(false);
    }

    /// A copy of the answer, for the list stays the directory's.
    ///
    /// @throws Throwable if no address was, or whatever the directory failed with
    List<SocketAddress> addresses() throws Throwable {
        Answer given = answer.join();
        Throwable failure = given.failure();
        if (failure != null) {
            Throwable cause = failure instanceof CompletionException ? failure.getCause() : null;
            throw cause == null ? failure : cause;
        }
        List<SocketAddress> answered = given.addresses();
        // may have nulls, which then are attempts that fail, each by itself
        List<SocketAddress> addresses = answered == null ? List.of() : new ArrayList<>(answered);
        if (addresses.isEmpty()) {
            throw new IOException("its address is not known");
        }
        return addresses;
    }
}
