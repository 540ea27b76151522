// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import io.bulla.runtime.oob.internal.flow.Credit;
import io.bulla.runtime.oob.internal.handlers.Incoming;
import io.bulla.runtime.oob.internal.peer.BroadcastSink;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// What a broadcast that a node holds is charged to those who sent it, until the nodes below have confirmed and the
/// handler has had it.
///
/// Ordering: charges are added on the loop while the broadcast holds this; the last to let go reads them after its
/// step of the count.
final class BroadcastCharge implements Incoming.Charge {

    private record Charge(BroadcastSink.Sender from, Credit credit, long bytes, int depth) {

        boolean isOf(BroadcastSink.Sender sender, Credit sendersCredit, int ofDepth) {
            return from == sender && credit == sendersCredit && depth == ofDepth;
        }

        Charge plus(long more) {
            return new Charge(from, credit, bytes + more, depth);
        }
    }

    // one for all that a sender sends of it in a lane of a session, however often
    private final List<Charge> charges = new ArrayList<>();
    // volatile: see the ordering
    private final AtomicInteger holders = new AtomicInteger(1);

    /// On the loop, by the broadcast.
    void add(BroadcastSink.Sender from, Credit credit, long charge, int depth) {
        for (int i = charges.size() - 1; i >= 0; i--) {
            Charge before = charges.get(i);
            if (before.isOf(from, credit, depth)) {
                charges.set(i, before.plus(charge));
                return;
            }
        }
        credit.hold(depth);
        charges.add(new Charge(from, credit, charge, depth));
    }

    /// On the loop, by the broadcast, for the handler.
    BroadcastCharge share() {
        holders.incrementAndGet();
        return this;
    }

    /// Any thread.
    @Override
    public void release() {
        if (holders.decrementAndGet() == 0) {
            charges.forEach(charge -> charge.from.consumed(charge.credit, charge.bytes, charge.depth));
        }
    }
}
