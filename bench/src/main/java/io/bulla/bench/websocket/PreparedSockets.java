// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.websocket;

import java.util.List;
import java.util.Locale;

/// What a prepared message costs a server for each of 1,000 clients that are all it has, as [GorillaSockets] does it.
public final class PreparedSockets {

    private PreparedSockets() {}

    /// @param args length, the cell as `deflate`, `2048`; prints nanoseconds
    public static void main(String[] args) throws Exception {
        Windows.Length length = Windows.Length.valueOf(args[0].toUpperCase(Locale.ROOT));
        Cell cell = new Cell(args[1], Integer.parseInt(args[2]));
        System.out.println(
                WebSocketSockets.medians(cell, List.of(Way.PREPARED), length).get(cell + " prepared-cpu ns"));
        System.exit(0);
    }
}
