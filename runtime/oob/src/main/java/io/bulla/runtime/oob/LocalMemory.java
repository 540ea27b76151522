// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletionStage;

/// Memory that nodes of one host lend each other: a message that is in it goes to a peer as a few bytes that say
/// where, whatever its size.
///
/// ```
/// lender                                          borrower
/// invite --invitation, over the connection------> borrow: maps the lender's memory, if it is of this host
/// isProof <-------------proof, over the same----- proof: what only that memory says
/// lend ------------------place------------------> open: a buffer; its close ends the lease
/// ```
///
/// Both ways are separate. An invitation is a hint; the proof, which comes over the connection that the peer was
/// authenticated on, says that the one who maps the memory is that peer. What begins with a connection ends with it:
/// the borrower is closed, buffers that are open stay good, and the next connection has another invitation. So a
/// place that was lost with its connection is no lease for ever: it ends with the borrower.
///
/// `io.bulla.runtime.oob.local` has one of shared slabs. No call waits, for most are on a node's event
/// loop.
public interface LocalMemory {

    /// Size of a place in bytes.
    int PLACE_BYTES = 32;

    /// The most bytes of an invitation, and of a proof.
    int MOST_BYTES = 256;

    /// What [#leastBytes] is by default.
    int LEAST_BYTES = 64 << 10;

    /// Bytes of the shortest piece of a message that is lent. Shorter ones go as bytes: there a lease costs more than
    /// their copy.
    ///
    /// @return at least 1, the same each time; [#LEAST_BYTES] by default
    default int leastBytes() {
        return LEAST_BYTES;
    }

    /// Invites a peer, which may be of another host.
    ///
    /// @param peer its rank
    /// @return closed by the node when the connection is over
    /// @throws io.bulla.buffer.MemoryLimitException if there is no memory; the peer gets bytes then
    Lender invite(int peer);

    /// Takes up the invitation of a peer.
    ///
    /// @param peer its rank
    /// @param invitation what the peer's [Lender#invitation] was
    /// @return completes, on any thread, with what is closed by the node; or fails, if the peer is of another host,
    ///     or this cannot be for another reason: then it sends bytes
    CompletionStage<Borrower> borrow(int peer, byte[] invitation);

    /// This node's side of what one peer borrows. One event loop's.
    interface Lender extends AutoCloseable {

        /// What the peer needs.
        ///
        /// @return at most [#MOST_BYTES] bytes
        byte[] invitation();

        /// Whether the peer maps this memory.
        ///
        /// @param proof what it says
        /// @return true if it is what [Borrower#proof] has to be
        boolean isProof(byte[] proof);

        /// Lends a buffer, if that can be; asked only after a proof.
        ///
        /// @param buffer open; the handle stays the caller's
        /// @param place gets [#PLACE_BYTES] bytes if it is lent
        /// @return false if the peer has to get bytes: the buffer is not in this memory, or the peer
        ///     has too much
        boolean lend(SealedBuffer buffer, ByteBuffer place);

        /// Leases that have not ended.
        ///
        /// @return at least 0, also after the close
        int leases();

        /// Bytes of these.
        ///
        /// @return at least 0
        long leasedBytes();

        /// Lends no more; what is lent stays lent. Again is harmless.
        @Override
        void close();
    }

    /// This node's side of what it borrows of one peer. One event loop's.
    interface Borrower extends AutoCloseable {

        /// What only the peer's memory says.
        ///
        /// @return at least 1 and at most [#MOST_BYTES] bytes
        byte[] proof();

        /// Makes the buffer of a place. Each is opened once.
        ///
        /// @param place [#PLACE_BYTES] bytes
        /// @return to be closed, by any thread, also after this is closed
        /// @throws IOException if it is not one that the peer has lent, or cannot be mapped; the node
        ///     then ends the connection, and borrows of this peer no more
        SealedBuffer open(ByteBuffer place) throws IOException;

        /// Called now and then, so that the peer can have back what it has no message in.
        ///
        /// @throws IOException if the peer lends no more
        void tick() throws IOException;

        /// Borrows no more; buffers that are open stay good. Again is harmless.
        @Override
        void close();
    }
}
