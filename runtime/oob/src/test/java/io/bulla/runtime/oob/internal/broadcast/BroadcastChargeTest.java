// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.bulla.runtime.oob.internal.flow.Credit;
import io.bulla.runtime.oob.internal.peer.BroadcastSink;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Who gets credit back for a broadcast, how much, and when.
class BroadcastChargeTest {

    private final List<String> consumed = new ArrayList<>();
    private final Credit small = new Credit(1000);
    private final Credit bulk = new Credit(1000);
    private final BroadcastSink.Sender one = sender(1);
    private final BroadcastSink.Sender other = sender(2);
    private final BroadcastCharge charge = new BroadcastCharge();

    private BroadcastSink.Sender sender(int rank) {
        return new BroadcastSink.Sender() {
            @Override
            public int rank() {
                return rank;
            }

            @Override
            public void consumed(Credit credit, long bytes) {
                throw new AssertionError("without its depth");
            }

            @Override
            public void consumed(Credit credit, long bytes, int depth) {
                consumed.add(rank + (credit == small ? " small " : " bulk ") + bytes + " depth=" + depth);
                credit.consume(bytes, depth);
            }
        };
    }

    @Test
    void allIsGivenBackByTheLastHolder() {
        charge.add(one, small, 100, 2);
        assertSame(charge, charge.share());
        charge.release();
        assertEquals(List.of(), consumed, "the handler has it still");
        charge.release();
        assertEquals(List.of("1 small 100 depth=2"), consumed);
    }

    /// A sender that sends it again and again makes this node keep no more.
    @Test
    void whatASenderSendsAgainIsOneCharge() {
        charge.add(one, small, 100, 2);
        charge.add(other, small, 10, 2);
        charge.add(one, small, 30, 2);
        assertEquals(0b1111_1010, small.empty());
        charge.release();
        assertEquals(List.of("1 small 130 depth=2", "2 small 10 depth=2"), consumed);
        assertEquals(0b1111_1110, small.empty(), "each was held once");
    }

    @Test
    void lanesSessionsAndDepthsAreChargedApart() {
        charge.add(one, small, 1, 2);
        charge.add(one, bulk, 2, 2);
        charge.add(one, small, 3, 4);
        assertEquals(0b1110_1010, small.empty());
        assertEquals(0b1111_1010, bulk.empty());
        charge.release();
        assertEquals(List.of("1 small 1 depth=2", "1 bulk 2 depth=2", "1 small 3 depth=4"), consumed);
        assertEquals(0b1111_1110, small.empty());
        assertEquals(0b1111_1110, bulk.empty());
    }
}
