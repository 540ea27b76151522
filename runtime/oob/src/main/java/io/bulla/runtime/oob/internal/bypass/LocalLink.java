// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.bypass;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.LocalMemory;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Trouble;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// The lending between the two ends of one connection.
///
/// ```
/// lends:    invited --PROOF--> proven: pieces in the memory go as places      PROOF of nothing: bytes, as before
/// borrows:  INVITE --mapped--> PROOF is said; places are opened               not mapped: PROOF of nothing
/// ```
///
/// One event loop's.
public final class LocalLink {

    /// The connection, as this needs it.
    public interface Owner {

        Channel channel();

        /// Writes a control frame with a body.
        void words(Frame.Kind kind, byte[] words);

        void flushNow();

        void debug(String what);

        /// So many bytes of a message went as a place, and this handle is needed no more. Cannot fail.
        void lent(SealedBuffer piece);
    }

    private final Owner connection;
    private final LocalMemory memory;
    private final FormerLoans state;
    private final int rank;
    private final int least;
    private final ByteBuffer place = ByteBuffer.allocate(Frame.PLACE);
    private LocalMemory.@Nullable Lender lender;
    private LocalMemory.@Nullable Borrower borrower;
    private boolean proven;
    private boolean invited;
    private boolean over;
    // of the piece that was asked for last
    private boolean placed;

    public LocalLink(Owner connection, LocalMemory memory, FormerLoans state, int rank) {
        this.connection = connection;
        this.memory = memory;
        this.state = state;
        this.rank = rank;
        this.least = memory.leastBytes();
    }

    /// Invites the peer.
    public void begin() {
        if (!state.mayBorrow()) {
            connection.debug(
                    "peer keeps what it had of former connections: peer=" + rank + " leases=" + state.leases());
            return;
        }
        try {
            lender = memory.invite(rank);
            connection.words(Frame.Kind.INVITE, lender.invitation());
        } catch (RuntimeException notNow) {
            connection.debug("lends nothing: peer=" + rank + " reason=" + notNow.getMessage());
        }
    }

    /// The peer lends.
    public void invited(SealedBuffer invitation) throws IOException {
        if (invited) {
            throw new IOException("invited twice: peer=" + rank);
        }
        invited = true;
        if (state.declines()) {
            connection.words(Frame.Kind.PROOF, new byte[0]);
            return;
        }
        memory.borrow(rank, invitation.toByteArray())
                .whenComplete((mapped, why) -> onLoop(() -> borrows(mapped, why), mapped));
    }

    private void onLoop(Runnable task, LocalMemory.@Nullable Borrower mapped) {
        LoopContext.onLoop(connection.channel().eventLoop(), task, () -> close(mapped));
    }

    /// Whatever a user's end does.
    private void close(LocalMemory.@Nullable Borrower ended) {
        try {
            if (ended != null) {
                ended.close();
            }
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.MEMORY_OF_PEER, failure);
        }
    }

    private void borrows(LocalMemory.@Nullable Borrower mapped, @Nullable Throwable why) {
        if (mapped == null) {
            connection.debug("borrows nothing: peer=" + rank + " reason=" + why);
        }
        if (over) {
            close(mapped);
            return;
        }
        borrower = mapped;
        connection.words(Frame.Kind.PROOF, mapped == null ? new byte[0] : mapped.proof());
        connection.flushNow();
    }

    /// The peer has said what only the memory says.
    public void proven(SealedBuffer proof) throws IOException {
        LocalMemory.Lender to = lender;
        if (to == null || proven) {
            throw new IOException("proof of nothing: peer=" + rank);
        }
        if (proof.byteSize() == 0) {
            lender = null;
            state.left(to);
            return;
        }
        if (!to.isProof(proof.toByteArray())) {
            throw new IOException("not what this node's memory says: peer=" + rank + " bytes=" + proof.byteSize());
        }
        proven = true;
        connection.debug("lends memory: peer=" + rank);
    }

    /// The next bytes of a message, as a place if they can be lent: then in one piece, if they are in
    /// one region.
    ///
    /// @param left bytes of the message that are still to be written
    /// @param pieces the next bytes, at most so many, in a handle of this one's
    public SealedBuffer piece(long left, int fragment, IntFunction<SealedBuffer> pieces) {
        placed = false;
        LocalMemory.Lender to = proven ? lender : null;
        if (to == null || left < least) {
            return pieces.apply(fragment);
        }
        SealedBuffer piece = pieces.apply(Frame.MAX_LOCAL);
        boolean taken = false;
        try {
            placed = piece.byteSize() >= least && to.lend(piece, place.clear());
            if (placed || piece.byteSize() <= fragment) {
                taken = true;
                return piece;
            }
            return piece.slice(0, fragment);
        } finally {
            if (!taken) {
                piece.close();
            }
        }
    }

    /// Whether the piece that was asked for last goes as a place.
    public boolean isPlaced() {
        return placed;
    }

    /// Writes a header and the place of a piece, which the lease holds.
    public ChannelFuture write(ByteBuf header, SealedBuffer piece) {
        connection.lent(piece);
        ByteBuffer written = header.internalNioBuffer(0, Frame.BYTES);
        Frame.markLocal(written, written.position());
        header.writeBytes(place.flip());
        return connection.channel().write(header);
    }

    /// The buffer of a place.
    public SealedBuffer open(Frame frame, SealedBuffer words) throws IOException {
        LocalMemory.Borrower from = borrower;
        if (from == null) {
            throw new IOException("place in memory that was not borrowed: peer=" + rank);
        }
        try {
            SealedBuffer piece = from.open(words.iovec().lent().asByteBuffers()[0]);
            if (piece.byteSize() != frame.length()) {
                piece.close();
                throw new IOException("place of another length: peer=" + rank + " length=" + piece.byteSize()
                        + " announced=" + frame.length());
            }
            return piece;
        } catch (IOException cannot) {
            state.decline();
            throw cannot;
        }
    }

    public void tick() {
        LocalMemory.Borrower from = borrower;
        if (from != null) {
            try {
                from.tick();
            } catch (IOException ended) {
                connection.debug("peer lends no more: peer=" + rank + " reason=" + ended.getMessage());
                borrower = null;
                from.close();
            }
        }
    }

    public int leases() {
        return lender == null ? 0 : lender.leases();
    }

    public long leasedBytes() {
        return lender == null ? 0 : lender.leasedBytes();
    }

    /// The connection is over.
    public void close() {
        over = true;
        proven = false;
        LocalMemory.Borrower from = borrower;
        borrower = null;
        close(from);
        LocalMemory.Lender to = lender;
        lender = null;
        if (to != null) {
            state.left(to);
        }
    }
}
