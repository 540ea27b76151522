// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.local;

import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.PosixException;
import io.bulla.posix.lending.SlabPeer;
import io.bulla.runtime.oob.LocalMemory;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/// The loans to one peer on one connection, from the invitation on.
///
/// ```
/// invited --a borrower with the token--> the nonce is lent to it --its proof is the nonce--> lends
/// ```
final class Lending implements LocalMemory.Lender {

    private final int rank;
    private final Runnable forgotten;
    private final byte[] invitation;
    private final byte[] nonce;
    // both under the monitor; the nonce in a slab, until it is lent
    private @Nullable SealedBuffer words;
    private @Nullable SlabPeer peer;

    /// @param rank of the peer
    /// @param forgotten run by the close
    /// @param words the nonce, in a slab; closed by this
    Lending(int rank, Runnable forgotten, byte[] invitation, byte[] nonce, SealedBuffer words) {
        this.rank = rank;
        this.forgotten = forgotten;
        this.invitation = invitation;
        this.nonce = nonce;
        this.words = words;
    }

    /// A borrower has come with the token, and gets what it has to prove. Any thread.
    ///
    /// @return false if it got nothing: it would wait for ever
    boolean greeted(SlabPeer borrower) {
        synchronized (this) {
            SealedBuffer buffer = words;
            if (buffer == null) {
                return false;
            }
            words = null;
            try (buffer) {
                borrower.rename("peer=" + rank);
                if (borrower.lend(buffer)) {
                    peer = borrower;
                    return true;
                }
            } catch (PosixException gone) {
                // it comes with the next connection
            }
            return false;
        }
    }

    @Override
    public byte[] invitation() {
        return invitation.clone();
    }

    @Override
    public boolean isProof(byte[] proof) {
        return peer() != null && MessageDigest.isEqual(nonce, proof);
    }

    @Override
    public boolean lend(SealedBuffer buffer, ByteBuffer place) {
        SlabPeer to = peer();
        try {
            return to != null && to.lend(buffer, place);
        } catch (PosixException gone) {
            return false;
        }
    }

    @Override
    public int leases() {
        SlabPeer to = peer();
        return to == null ? 0 : to.leases();
    }

    @Override
    public long leasedBytes() {
        SlabPeer to = peer();
        return to == null ? 0 : to.bytes();
    }

    @Override
    public void close() {
        forgotten.run();
        synchronized (this) {
            SealedBuffer buffer = words;
            words = null;
            if (buffer != null) {
                buffer.close();
            }
        }
    }

    private synchronized @Nullable SlabPeer peer() {
        return peer;
    }
}
