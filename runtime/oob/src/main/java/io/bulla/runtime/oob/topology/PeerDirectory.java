// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.topology;

import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// Where peers listen.
///
/// | what it knows | what to write |
/// |---|---|
/// | one address of each peer, at once | a lambda: [#addressOf(int)] |
/// | several addresses, at once | [#addressesOf(int)] |
/// | host names that differ in the rank | [DnsDirectory#of(String)] |
/// | answers that come later | [#late(IntFunction)], or [#lookUp(int)] |
/// | answers for which a thread has to wait | one of the first two, and [#askedOn(Executor)] |
@FunctionalInterface
public interface PeerDirectory {

    /// A directory that answers later, from any thread.
    ///
    /// @param ask as [#lookUp(int)]
    /// @return a directory that knows nothing at once: [#addressOf(int)] and [#addressesOf(int)] throw
    ///     [UnsupportedOperationException]
    static PeerDirectory late(IntFunction<? extends CompletionStage<List<SocketAddress>>> ask) {
        return new LateDirectory(ask);
    }

    /// A peer's address.
    ///
    /// @param rank of the peer
    /// @return where it listens, or `null` if it is not known
    @Nullable
    SocketAddress addressOf(int rank);

    /// All addresses of a peer.
    ///
    /// @param rank of the peer
    /// @return the likeliest first; empty if none is known. By default [#addressOf(int)] alone
    default List<SocketAddress> addressesOf(int rank) {
        @Nullable SocketAddress only = addressOf(rank);
        return only == null ? List.of() : List.of(only);
    }

    /// All addresses of a peer, as soon as they are known. A node asks before each round of attempts, on its
    /// event loop, so this must not block. It tries the addresses in turn, and goes on with the one that worked;
    /// the verdict on a peer waits until each of them has been tried.
    ///
    /// A stage that fails, or an answer without an address, is an attempt that failed. So is no answer for a
    /// third of the peer timeout, or for the hello deadline if that is shorter. The node does not ask again while
    /// a question is open, and takes its answer until the verdict, from any thread. An answer that comes later
    /// changes nothing.
    ///
    /// @param rank of the peer
    /// @return completes with the likeliest first; empty if none is known. Names that are not resolved are
    ///     looked up on the event loop, so they are better resolved here. By default [#addressesOf(int)], at once
    default CompletionStage<List<SocketAddress>> lookUp(int rank) {
        return CompletableFuture.completedStage(addressesOf(rank));
    }

    /// The same addresses, for which threads of an executor wait in place of a node's event loop. A thread waits for
    /// each peer that a node looks for, one at a time.
    ///
    /// @param executor best of virtual threads; one that refuses makes an attempt that failed
    /// @return a directory as of [#late(IntFunction)]
    default PeerDirectory askedOn(Executor executor) {
        return late(rank -> CompletableFuture.supplyAsync(() -> addressesOf(rank), executor));
    }
}
