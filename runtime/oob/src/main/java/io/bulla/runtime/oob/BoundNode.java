// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.runtime.oob.internal.connection.ListeningSocket;
import io.bulla.runtime.oob.internal.core.Settings;
import io.bulla.runtime.oob.internal.core.SettingsDraft;
import io.bulla.runtime.oob.internal.node.SteadyLoops;
import io.bulla.runtime.oob.internal.ranks.Ranks;
import io.bulla.runtime.oob.topology.PeerDirectory;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// A port that is bound, of a node that starts when its rank, the number of nodes and the directory are known, such
/// as after an exchange of addresses.
///
/// ```
/// bind() --> bound --start(rank, size, directory)--> the node's        bound --close()--> free
/// ```
///
/// Connections that come before the start wait in the system's queue. What else the builder says, such as handlers
/// and bounds, is read at the start.
public final class BoundNode implements AutoCloseable {

    private final OobNodeBuilder builder;
    private final ListeningSocket socket;
    private final @Nullable EventLoopGroup ownLoops;
    // volatile: one owner, of the calls that start and close
    private final AtomicBoolean taken = new AtomicBoolean();

    /// @param ownLoops to be shut down with the node, or `null`
    BoundNode(OobNodeBuilder builder, ListeningSocket socket, @Nullable EventLoopGroup ownLoops) {
        this.builder = builder;
        this.socket = socket;
        this.ownLoops = ownLoops;
    }

    /// Binds where a draft says, without waiting.
    ///
    /// @param builder of the node to be
    static CompletableFuture<BoundNode> binding(OobNodeBuilder builder, SettingsDraft draft) throws IOException {
        draft.checkListener();
        ServerSocketChannel listener = draft.listener;
        InetSocketAddress address = listener == null ? draft.bind : (InetSocketAddress) listener.getLocalAddress();
        Objects.requireNonNull(draft.security, "a node needs a security, such as Security.plaintext()")
                .checkAddress(address);
        if (draft.loops != null) {
            return binding(builder, draft, address, draft.loops, null);
        }
        EventLoopGroup own = new SteadyLoops(draft.transport.restingLoops());
        return binding(builder, draft, address, own, own);
    }

    private static CompletableFuture<BoundNode> binding(
            OobNodeBuilder builder,
            SettingsDraft draft,
            InetSocketAddress address,
            EventLoopGroup loops,
            @Nullable EventLoopGroup own) {
        return ListeningSocket.open(draft.transport, draft.allocator, loops.next(), draft.listener, address)
                .thenApply(socket -> new BoundNode(builder, socket, own))
                .whenComplete((bound, failure) -> shutDown(failure == null ? null : own));
    }

    /// Where this listens.
    ///
    /// @return the bound address, with its port
    public InetSocketAddress address() {
        return socket.address();
    }

    /// Starts the node, which has the port from now on.
    ///
    /// @param rank of the node, 0 to `size - 1`
    /// @param size number of nodes
    /// @param directory as of [OobNodeBuilder#directory]
    /// @return a running node
    /// @throws IOException if the security is another rank's; the port stays bound
    /// @throws IllegalArgumentException if the rank is not one of the job's, or a bound is outside; the port
    ///     stays bound
    /// @throws IllegalStateException if this was started or closed already
    public OobNode start(int rank, int size, PeerDirectory directory) throws IOException {
        Ranks.check(rank, size);
        Settings settings = builder.settings(rank, size, directory);
        settings.security().checkRank(rank);
        return begin(settings);
    }

    OobNode begin(Settings settings) {
        if (!taken.compareAndSet(false, true)) {
            throw new IllegalStateException("started or closed already: address=" + address());
        }
        boolean started = false;
        try {
            OobNode node = OobNode.start(settings, socket, ownLoops);
            started = true;
            return node;
        } finally {
            if (!started) {
                await(free());
            }
        }
    }

    /// Frees the port, if the node was not started; again is harmless.
    @Override
    public void close() {
        if (taken.compareAndSet(false, true)) {
            await(free());
        }
    }

    /// But for the loop, which frees it.
    private void await(CompletableFuture<Void> freed) {
        if (!socket.loop().inEventLoop()) {
            freed.join();
        }
    }

    private CompletableFuture<Void> free() {
        return socket.close().whenComplete((closed, failure) -> shutDown(ownLoops));
    }

    static void shutDown(@Nullable EventLoopGroup loops) {
        if (loops != null) {
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS);
        }
    }

    /// What a stage completes with, or has failed with.
    static <T> T waitFor(CompletableFuture<T> stage) throws IOException {
        try {
            return stage.join();
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof IOException cannotListen) {
                throw cannotListen;
            }
            if (failed.getCause() instanceof RuntimeException wrong) {
                throw wrong;
            }
            throw failed;
        }
    }
}
