// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.session;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.pmix.internal.wire.Header;
import org.jspecify.annotations.Nullable;

/// Writes frames, on a virtual thread that lives while some wait. Never two at once.
final class FrameWriter {

    /// Whose frames these are.
    interface Owner {

        /// @return `null` if none waits; the thread ends then
        @Nullable
        Frame nextUnsent();

        /// The index of this client in the server's table.
        int index();

        /// The connection is of no more use.
        void onFailure(Throwable failure);
    }

    private final ServerChannel channel;

    FrameWriter(ServerChannel channel) {
        this.channel = channel;
    }

    /// Called by the thread that has found no writer.
    void start(Owner owner) {
        try {
            Thread.ofVirtual().name("bulla-pmix-writer").start(() -> write(owner));
        } catch (Throwable noThread) {
            owner.onFailure(noThread);
        }
    }

    private void write(Owner owner) {
        try {
            for (Frame next = owner.nextUnsent(); next != null; next = owner.nextUnsent()) {
                try (SealedBuffer body = next.body()) {
                    channel.write(new Header(owner.index(), next.tag(), body.byteSize()), body);
                }
            }
        } catch (Throwable failure) {
            owner.onFailure(failure);
        }
    }
}
