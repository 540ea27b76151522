// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.netty.channel.Channel;

/// Closes a channel whatever its handlers do: one of a user's security may fail, and would leave it open.
final class SureClose {

    private SureClose() {}

    static void of(Channel channel) {
        try {
            channel.close().addListener(done -> {
                if (!done.isSuccess()) {
                    now(channel);
                }
            });
        } catch (Throwable noMemory) {
            now(channel);
        }
    }

    /// Past its handlers.
    static void now(Channel channel) {
        channel.unsafe().close(channel.voidPromise());
    }
}
