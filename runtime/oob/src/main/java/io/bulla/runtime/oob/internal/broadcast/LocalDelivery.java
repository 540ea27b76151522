// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Trouble;
import io.bulla.runtime.oob.internal.handlers.Handlers;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Consumer;

/// Hands broadcasts to this node's own handlers; of one that is signed, their call and the confirmation wait for the
/// check. One event loop's, but for the checks themselves.
final class LocalDelivery {

    private final int rank;
    private final Handlers handlers;
    private final OriginChecks origins;
    private final SeenBroadcasts seen;
    private final Consumer<Broadcast> checked;

    /// @param checked told on the loop, when a broadcast's check is over
    LocalDelivery(int rank, Handlers handlers, OriginChecks origins, SeenBroadcasts seen, Consumer<Broadcast> checked) {
        this.rank = rank;
        this.handlers = handlers;
        this.origins = origins;
        this.seen = seen;
        this.checked = checked;
    }

    /// All of it is here.
    void deliver(Broadcast broadcast) {
        OriginChecks.Opened opened;
        try {
            opened = open(broadcast);
        } catch (IOException wrong) {
            refuse(broadcast, String.valueOf(wrong.getMessage()));
            return;
        } catch (Throwable noHandle) {
            NodeLog.failed(Trouble.BROADCAST_OF_TAG, rank, broadcast.tag, noHandle);
            seen.add(broadcast.key);
            broadcast.missed(rank);
            return;
        }
        OriginCheck check = opened.check();
        if (check == null) {
            seen.add(broadcast.key);
        } else {
            broadcast.checking = true;
            origins.start(check);
        }
        Message message =
                new Message(broadcast.key.origin(), broadcast.tag, broadcast.options.format(), opened.bytes());
        handlers.dispatch(message, broadcast.charge.share(), check);
    }

    private OriginChecks.Opened open(Broadcast broadcast) throws IOException {
        if (!broadcast.signed) {
            origins.checkUnsigned();
            return new OriginChecks.Opened(broadcast.whole(), null);
        }
        SealedBuffer whole = broadcast.whole();
        try {
            return origins.open(
                    broadcast.key, broadcast.tag, broadcast.options, whole, wrong -> checked(broadcast, wrong));
        } finally {
            origins.close(whole);
        }
    }

    private void refuse(Broadcast broadcast, String why) {
        origins.refused(broadcast.key, broadcast.tag, why);
        broadcast.refuse(rank);
    }

    /// It is known whether a broadcast is its origin's.
    ///
    /// @param wrong why it is not
    private void checked(Broadcast broadcast, Optional<String> wrong) {
        if (broadcast.isOver()) {
            // this node is closed
            return;
        }
        broadcast.checking = false;
        if (wrong.isEmpty()) {
            seen.add(broadcast.key);
        } else {
            refuse(broadcast, wrong.get());
        }
        checked.accept(broadcast);
    }
}
