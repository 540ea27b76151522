// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

/// A handler that promises not to block.
record OnLoop(MessageHandler handler) implements MessageHandler {

    @Override
    public void received(Message message) {
        handler.received(message);
    }

    @Override
    public boolean runsOnLoop() {
        return true;
    }
}
