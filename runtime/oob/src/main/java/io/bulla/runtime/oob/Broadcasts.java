package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/// The broadcasts that pass through a node.
final class Broadcasts {

    private final Hub hub;
    private final Settings settings;
    private final LongAdder sends = new LongAdder();

    Broadcasts(Hub hub) {
        this.hub = hub;
        this.settings = hub.settings();
    }

    long sends() {
        return sends.sum();
    }

    /// Sends a broadcast to this node's children. Any thread.
    List<Send> handOn(int tag, int origin, SendOptions options, SealedBuffer buffer) {
        List<Send> all = new ArrayList<>();
        for (int child : settings.routing().children(settings.rank(), origin, settings.size())) {
            sends.increment();
            Peer peer = hub.peer(child);
            SealedBuffer handle = settings.policy().outgoing(buffer);
            hub.room().take(peer.quota, handle.byteSize());
            Send send = new Send(Frame.Kind.XCAST, tag, origin, options, handle, peer);
            hub.submit(send);
            all.add(send);
        }
        return all;
    }
}
