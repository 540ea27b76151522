// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.bypass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.LocalMemory;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/// A peer that keeps what it borrowed of former connections borrows no more of new ones.
class FormerLoansTest {

    private final FormerLoans loans = new FormerLoans();

    private static final class Lender implements LocalMemory.Lender {

        private int leases;
        private boolean closed;
        private boolean throwing;

        Lender(int leases) {
            this.leases = leases;
        }

        @Override
        public byte[] invitation() {
            return new byte[1];
        }

        @Override
        public boolean isProof(byte[] proof) {
            return false;
        }

        @Override
        public boolean lend(SealedBuffer buffer, ByteBuffer place) {
            return false;
        }

        @Override
        public int leases() {
            return leases;
        }

        @Override
        public long leasedBytes() {
            return 100L * leases;
        }

        @Override
        public void close() {
            closed = true;
            if (throwing) {
                throw new IllegalStateException("thrown by the test");
            }
        }
    }

    private Lender left(int leases) {
        Lender lender = new Lender(leases);
        loans.left(lender);
        assertTrue(lender.closed);
        return lender;
    }

    @Test
    void fourThatAreKeptAreTheMost() {
        for (int i = 0; i < 3; i++) {
            left(1);
            assertTrue(loans.mayBorrow());
        }
        Lender last = left(2);
        assertFalse(loans.mayBorrow());
        assertEquals(5, loans.leases());
        assertEquals(500, loans.leasedBytes());
        last.leases = 0;
        assertTrue(loans.mayBorrow(), "one was given back");
        assertEquals(3, loans.leases());
        left(0);
        assertTrue(loans.mayBorrow(), "nothing of it is kept");
        left(1);
        assertFalse(loans.mayBorrow());
    }

    @Test
    void lenderWhoseEndThrowsCounts() {
        Lender lender = new Lender(1);
        lender.throwing = true;
        loans.left(lender);
        assertEquals(1, loans.leases());
    }

    @Test
    void onceDeclinedStaysDeclined() {
        assertFalse(loans.declines());
        loans.decline();
        assertTrue(loans.declines());
    }
}
