// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.flow.SendQuota;
import io.bulla.runtime.oob.internal.peer.Peer;
import io.bulla.runtime.oob.internal.peer.PeerTable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Broadcasts of this node's own, as the program hands them over: with room at each child, and signed. Any thread.
public final class OwnBroadcasts {

    private final LoopContext context;
    private final Broadcasts broadcasts;
    private final PeerTable peers;
    private final OwnBroadcast.Start start;

    public OwnBroadcasts(LoopContext context, Broadcasts broadcasts, PeerTable peers, OwnBroadcast.Start start) {
        this.context = context;
        this.broadcasts = broadcasts;
        this.peers = peers;
        this.start = start;
    }

    /// Those that this node sends to by itself.
    ///
    /// @throws IllegalStateException if the user's routing names one that cannot be
    public Peer[] children() {
        int[] ranks = broadcasts.tree().children(context.rank(), context.rank());
        Peer[] children = new Peer[ranks.length];
        for (int i = 0; i < ranks.length; i++) {
            children[i] = peers.peer(ranks[i]);
        }
        return children;
    }

    /// @param buffer stays the caller's
    /// @return with its rooms, to be handed over to the loop
    /// @throws IOException if there is no room, or it cannot be signed
    public OwnBroadcast make(int tag, SendOptions options, SealedBuffer buffer) throws IOException {
        Peer[] children = children();
        // made here if it is not there yet: that calls the user's memory, which may fail
        peers.peer(context.rank());
        SealedBuffer handle = buffer.share();
        String full = takeRooms(children, buffer.byteSize());
        if (full != null) {
            handle.close();
            throw context.failures().queueFull(full + " rank=" + context.rank() + " tag=" + tag);
        }
        BroadcastKey key = broadcasts.newKey();
        boolean signs = broadcasts.origins().signs();
        if (signs) {
            handle = signed(key, tag, options, handle, children);
        }
        return make(key, tag, options, signs, handle, children);
    }

    /// One that has what it needs.
    ///
    /// @param handle owned from now on
    public OwnBroadcast make(
            BroadcastKey key, int tag, SendOptions options, boolean signed, SealedBuffer handle, Peer[] children) {
        return new OwnBroadcast(start, key, tag, options, signed, handle, peers.peer(context.rank()), children);
    }

    /// In place of a handle one to the same bytes with a signature behind them.
    private SealedBuffer signed(BroadcastKey key, int tag, SendOptions options, SealedBuffer handle, Peer[] children)
            throws IOException {
        long bytes = handle.byteSize();
        long limit = context.settings().limit();
        long rooms = 0;
        try {
            SealedBuffer signed = broadcasts.origins().sign(key, tag, options, handle);
            if (signed.byteSize() > limit) {
                long length = signed.byteSize();
                signed.close();
                throw new IllegalArgumentException(
                        "message over the limit, with its signature: length=" + length + " limit=" + limit);
            }
            rooms = signed.byteSize();
            return signed;
        } finally {
            context.close(handle);
            for (Peer child : children) {
                SendQuota quota = child.quota();
                if (rooms > 0) {
                    quota.take(rooms);
                }
                quota.give(1, bytes);
            }
        }
    }

    /// @return what is full, or `null`: each child's quota has room for it
    private static @Nullable String takeRooms(Peer[] children, long bytes) {
        for (int taken = 0; taken < children.length; taken++) {
            String full = children[taken].quota().tryTake(bytes);
            if (full != null) {
                while (--taken >= 0) {
                    children[taken].quota().give(1, bytes);
                }
                return full;
            }
        }
        return null;
    }
}
