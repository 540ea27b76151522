// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.websocket;

import io.netty.channel.uring.IoUring;
import java.util.List;
import java.util.Locale;

/// What a prepared message costs a server for each of 1,000 clients that are all it has, as [GorillaSockets] does it.
public final class PreparedSockets {

    /// Where the transport cannot be had: the cause follows.
    public static final String NONE = "none: ";

    private PreparedSockets() {}

    /// @param args length, the transport as `nio` or `io_uring`, the cell as `deflate`, `2048`; prints nanoseconds,
    ///     or why there is no such transport
    public static void main(String[] args) throws Exception {
        Windows.Length length = Windows.Length.valueOf(args[0].toUpperCase(Locale.ROOT));
        Transport transport = Transport.valueOf(args[1].toUpperCase(Locale.ROOT));
        Cell cell = new Cell(args[2], Integer.parseInt(args[3]));
        if (transport == Transport.IO_URING && !IoUring.isAvailable()) {
            System.out.println(NONE + IoUring.unavailabilityCause());
            System.exit(0);
        }
        System.out.println(WebSocketSockets.medians(cell, List.of(Way.PREPARED), transport, length)
                .get(cell + " prepared-cpu ns"));
        System.exit(0);
    }
}
