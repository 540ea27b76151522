// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

import io.bulla.runtime.oob.PeerFailedException;
import io.bulla.runtime.oob.internal.connection.Connection;
import io.bulla.runtime.oob.internal.core.HolderTags;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.core.Settings;
import io.bulla.runtime.oob.internal.flow.SendQuota;
import io.bulla.runtime.oob.internal.session.Session;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// Shared by the parts of one peer: the session with it, the state, and the carrier, which is there in one state
/// only.
///
/// One event loop's, but for the quota and [#tellSoon].
final class PeerCore {

    final LoopContext context;
    final int rank;
    final Session session;
    final SendQuota quota;
    final HolderTags tags;
    final PeerCounters counters = new PeerCounters();
    private final Runnable tellCredit = this::tellCredit;
    private final AtomicBoolean telling = new AtomicBoolean();
    // why it was given up, until it says hello again; null if it was not
    @Nullable
    String verdict;

    private PeerState state = PeerState.IDLE;
    private @Nullable Carrier carrier;

    PeerCore(LoopContext context, int rank, SendQuota all) {
        Settings settings = context.settings();
        this.context = context;
        this.rank = rank;
        this.session = new Session(settings);
        this.tags = HolderTags.of(rank, settings.source());
        this.quota = all.ofPeer(settings.peerMessages(), settings.peerBytes());
    }

    /// The verdict, which stands until the peer says hello again.
    PeerFailedException judged(String why) {
        PeerFailedException failure = context.failures().peerFailed(rank, why);
        verdict = failure.getMessage();
        return failure;
    }

    PeerState state() {
        return state;
    }

    /// The carrier of the session, or `null`: the peer is not CONNECTED.
    @Nullable
    Carrier carrier() {
        return carrier;
    }

    boolean isConnected() {
        return carrier != null;
    }

    boolean isSeeking() {
        return state == PeerState.SEEKING;
    }

    /// Two processes say that they are this rank: the one that is connected, and another.
    String claimedTwice(Connection other) {
        Carrier known = Objects.requireNonNull(carrier, "carrier");
        return "rank " + rank + " is claimed by two processes: "
                + address(known.connection().channel()) + " and " + address(other.channel());
    }

    /// For a line that a person reads.
    private static String address(Channel channel) {
        return channel.remoteAddress() instanceof InetSocketAddress internet && internet.getAddress() != null
                ? internet.getAddress().getHostAddress() + ":" + internet.getPort()
                : String.valueOf(channel.remoteAddress());
    }

    /// Sets any state but CONNECTED; that ends with its carrier.
    void become(PeerState next) {
        step(next, null);
    }

    /// From now on this carries the session.
    void connected(Carrier by) {
        step(PeerState.CONNECTED, by);
    }

    private void step(PeerState next, @Nullable Carrier by) {
        if (!state.mayBecome(next) || (next == PeerState.CONNECTED) != (by != null)) {
            throw new IllegalStateException("no such step: peer=" + rank + " from=" + state + " to=" + next);
        }
        context.debug("peer=" + rank + " from=" + state + " to=" + next);
        state = next;
        carrier = by;
    }

    /// The peer is to hear of its credit. Any thread.
    void tellSoon() {
        if (telling.compareAndSet(false, true)) {
            boolean told = false;
            try {
                context.onLoop(tellCredit);
                told = true;
            } finally {
                if (!told) {
                    telling.set(false);
                }
            }
        }
    }

    void tellCredit() {
        telling.set(false);
        if (carrier != null) {
            carrier.sayCredit();
        }
    }
}
