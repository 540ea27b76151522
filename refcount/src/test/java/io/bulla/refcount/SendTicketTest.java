// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SendTicketTest {

    private final Lease lease = new Lease(new RefCount(null) {
        @Override
        protected void free() {}
    }) {};

    @Test
    void leaseGoesWithTheLastEvent() {
        SendTicket ticket = new SendTicket(lease, 2);
        ticket.happened();
        assertTrue(lease.isOpen());
        assertFalse(ticket.isDone());
        ticket.happened();
        assertFalse(lease.isOpen());
        assertTrue(ticket.isDone());
    }

    @Test
    void eventTooManyIsAnError() {
        SendTicket ticket = new SendTicket(lease, 1);
        ticket.happened();
        assertEquals(
                "more events than announced: surplus=1",
                assertThrows(IllegalStateException.class, ticket::happened).getMessage());
    }

    @Test
    void sendWithoutEventsIsRefusedAndTheLeaseStaysOpen() {
        assertEquals(
                "a send waits for at least one event: events=0",
                assertThrows(IllegalArgumentException.class, () -> new SendTicket(lease, 0))
                        .getMessage());
        assertTrue(lease.isOpen());
    }
}
