// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.topology;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/// A directory of names that differ in the rank, as a StatefulSet of Kubernetes gives them to its pods.
///
/// `DnsDirectory.of("bulla-{rank}.bulla:7000")` finds node 3 at port 7000 of the addresses of `bulla-3.bulla`.
///
/// Each question looks the name up again, on a virtual thread, and a node asks before each round of attempts: a
/// name that is not known yet, or a pod that comes back with another address, is found by a later round. How soon
/// depends on the resolver: the JDK's keeps an answer for `networkaddress.cache.ttl` seconds (30 by default), and
/// that there is none for `networkaddress.cache.negative.ttl` seconds (10 by default), both security properties. A
/// node whose peer timeout is not longer than these may give up on a peer that is there. [#resolvedBy(Resolver)] is
/// for another resolver.
///
/// A rank has one question at a time; a second caller gets the answer of the first. So a resolver that never answers
/// keeps one thread and at most 1,024 callers for each rank. Of an answer the first 64 addresses are used, in its
/// order: a node tries each of them before its verdict.
public final class DnsDirectory implements PeerDirectory {

    /// Finds the addresses of a name.
    @FunctionalInterface
    public interface Resolver {

        /// Looks a name up. May block.
        ///
        /// @param name as the pattern makes it of a rank
        /// @return the likeliest first
        /// @throws IOException if it cannot tell; [UnknownHostException] if there is no such name
        List<InetAddress> resolve(String name) throws IOException;
    }

    private static final int MOST_ADDRESSES = 64;
    private static final int MOST_WAITING = 1024;
    private static final Executor VIRTUAL =
            task -> Thread.ofVirtual().name("bulla-dns").start(task);
    private static final Resolver JDK = name -> List.of(InetAddress.getAllByName(name));

    private final NamePattern pattern;
    private final Resolver resolver;
    private final Executor executor;
    private final Map<Integer, CompletableFuture<List<SocketAddress>>> open = new ConcurrentHashMap<>();

    private DnsDirectory(NamePattern pattern, Resolver resolver, Executor executor) {
        this.pattern = pattern;
        this.resolver = resolver;
        this.executor = executor;
    }

    /// A directory that asks the JDK's resolver, on virtual threads.
    ///
    /// @param pattern `name:port`, the name with `{rank}` in it once; a name that ends with a dot is not tried in
    ///     search domains
    /// @return knows nothing yet; no name is looked up
    /// @throws IllegalArgumentException if it is not such a pattern; it says what is wrong, and the pattern
    public static DnsDirectory of(String pattern) {
        return new DnsDirectory(NamePattern.parse(pattern), JDK, VIRTUAL);
    }

    /// The same names, looked up another way.
    ///
    /// @param another is called from many threads; what it throws is an attempt that failed
    /// @return another directory
    public DnsDirectory resolvedBy(Resolver another) {
        return new DnsDirectory(pattern, Objects.requireNonNull(another, "another"), executor);
    }

    /// The same names, for which threads of an executor wait.
    ///
    /// @param another must run what it takes: until then the rank's question is open, and is not asked again.
    ///     One that refuses makes an attempt that failed
    /// @return another directory
    @Override
    public DnsDirectory askedOn(Executor another) {
        return new DnsDirectory(pattern, resolver, Objects.requireNonNull(another, "another"));
    }

    /// The name that is looked up for a node.
    ///
    /// @param rank from 0 on
    /// @return as it is given to the resolver
    /// @throws IllegalArgumentException if the rank is negative
    public String nameOf(int rank) {
        return pattern.nameOf(rank);
    }

    /// The port of all nodes.
    ///
    /// @return 1 to 65535
    public int port() {
        return pattern.port();
    }

    /// The addresses of a node's name, looked up now, on another thread.
    ///
    /// @return fails with an [IOException] that has the name and the rank, if there is no address
    /// @throws IllegalArgumentException if the rank is negative
    @Override
    public CompletionStage<List<SocketAddress>> lookUp(int rank) {
        String name = nameOf(rank);
        CompletableFuture<List<SocketAddress>> question = new CompletableFuture<>();
        CompletableFuture<List<SocketAddress>> earlier = open.putIfAbsent(rank, question);
        if (earlier != null) {
            return earlier.getNumberOfDependents() < MOST_WAITING
                    ? earlier.copy()
                    : CompletableFuture.failedStage(new IOException(
                            "too many wait for a name: name=" + name + " rank=" + rank + " most=" + MOST_WAITING));
        }
        // a copy: others wait for the question too, so no caller may complete it
        CompletionStage<List<SocketAddress>> copy = question.copy();
        try {
            executor.execute(() -> answer(question, name, rank));
        } catch (Throwable refused) {
            open.remove(rank, question);
            question.completeExceptionally(failure("cannot ask for a name", name, rank, refused));
        }
        return copy;
    }

    private void answer(CompletableFuture<List<SocketAddress>> question, String name, int rank) {
        try {
            List<SocketAddress> addresses = addresses(name);
            // first: who asks because of this answer asks anew
            open.remove(rank, question);
            question.complete(addresses);
        } catch (Throwable failed) {
            open.remove(rank, question);
            String what = failed instanceof UnknownHostException ? "unknown name" : "cannot look a name up";
            question.completeExceptionally(failure(what, name, rank, failed));
        } finally {
            // changes nothing, unless there was no memory to say what failed
            question.cancel(false);
        }
    }

    private List<SocketAddress> addresses(String name) throws IOException {
        List<SocketAddress> addresses = new ArrayList<>();
        for (InetAddress address : Objects.requireNonNull(resolver.resolve(name), "resolver returned no list")) {
            // an InetSocketAddress of null would be this host
            Objects.requireNonNull(address, "resolver answered a null address");
            addresses.add(new InetSocketAddress(address, port()));
            if (addresses.size() == MOST_ADDRESSES) {
                return addresses;
            }
        }
        if (addresses.isEmpty()) {
            throw new UnknownHostException("no address");
        }
        return addresses;
    }

    private static IOException failure(String what, String name, int rank, Throwable reason) {
        return new IOException(what + ": name=" + name + " rank=" + rank + " reason=" + reason, reason);
    }

    /// Knows nothing at once.
    ///
    /// @throws UnsupportedOperationException always: [#lookUp(int)] asks it
    @Override
    public SocketAddress addressOf(int rank) {
        throw LateDirectory.answersLater(rank);
    }

    /// Knows nothing at once.
    ///
    /// @throws UnsupportedOperationException always: [#lookUp(int)] asks it
    @Override
    public List<SocketAddress> addressesOf(int rank) {
        throw LateDirectory.answersLater(rank);
    }

    @Override
    public String toString() {
        return pattern.toString();
    }
}
