// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

/// A message on its way to its handler; owns the node's handle on it.
final class Incoming extends HandlerExecutor.Item {

    final Message message;
    final long bytes;
    private final Handlers handlers;
    // null once it does not count any more
    private Peer peer;

    Incoming(Message message, Handlers handlers, Peer peer) {
        this.message = message;
        this.bytes = message.buffer().byteSize();
        this.handlers = handlers;
        this.peer = peer;
    }

    @Override
    void run() {
        handlers.deliver(this);
    }

    @Override
    void drop() {
        message.buffer().close();
        leave();
    }

    /// It waits for its turn no more.
    void leave() {
        if (peer != null) {
            peer.handled(bytes);
            peer = null;
        }
    }
}
