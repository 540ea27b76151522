// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.local;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.lending.SlabBorrower;
import io.bulla.runtime.oob.LocalMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/// The mapped loans of one peer on one connection.
///
/// @param borrower closed with this
/// @param nonce what the lender's memory says
record Borrowing(SlabBorrower borrower, byte[] nonce) implements LocalMemory.Borrower {

    /// Size of the nonce in bytes.
    static final int NONCE = 16;

    private static final String UID = "unix:uid";

    /// Maps what the lender has. Waits for it.
    ///
    /// @param copies for what comes as bytes, which nothing does
    /// @throws IOException if it is another user's, or cannot be mapped
    static Borrowing of(Invitation invitation, MemorySource copies) throws IOException {
        Path path = invitation.path();
        Object owner = Files.getAttribute(path, UID, LinkOption.NOFOLLOW_LINKS);
        Object self = Files.getAttribute(Path.of("/proc/self"), UID);
        if (!owner.equals(self)) {
            throw new IOException("socket of another user: path=" + path + " owner=" + owner + " user=" + self);
        }
        SlabBorrower borrower = SlabBorrower.connect(path, invitation.token(), copies, Long.MAX_VALUE);
        boolean mapped = false;
        try (SealedBuffer words = borrower.receive()) {
            if (words.byteSize() != NONCE) {
                throw new IOException("not a nonce: bytes=" + words.byteSize());
            }
            Borrowing borrowing = new Borrowing(borrower, words.toByteArray());
            mapped = true;
            return borrowing;
        } finally {
            if (!mapped) {
                borrower.close();
            }
        }
    }

    @Override
    public byte[] proof() {
        return nonce.clone();
    }

    @Override
    public SealedBuffer open(ByteBuffer place) throws IOException {
        return borrower.open(place);
    }

    @Override
    public void tick() throws IOException {
        borrower.listen();
    }

    @Override
    public void close() {
        borrower.close();
    }
}
