// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.cut.NodeCut;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/// Every public operation that takes a rank refuses one that is not a node, and says which and of how many.
class RankTest {

    private final Cluster cluster = new Cluster();

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
    }

    @Test
    void rankThatIsNoNodeIsNamedWithTheirNumber() throws Exception {
        cluster.start(2);
        OobNode node = cluster.node(0);
        try (SealedBuffer message = cluster.numbered(1, 10)) {
            for (int rank : new int[] {-1, 2, Integer.MAX_VALUE}) {
                List<Executable> calls = List.of(
                        () -> node.send(rank, 1, message),
                        () -> node.trySend(rank, 1, message, SendOptions.DEFAULT),
                        () -> node.sendBlocking(rank, 1, message, SendOptions.DEFAULT),
                        () -> node.room(rank),
                        () -> node.lost(rank, "gone"),
                        () -> node.suspect(rank, "gone"),
                        () -> node.notice(rank, 0, new byte[0]),
                        () -> OobNode.builder(rank, 2),
                        () -> new NodeCut(rank, 2, List.of(), List.of()));
                for (Executable call : calls) {
                    assertEquals(
                            "rank is not a node: rank=" + rank + " nodes=2",
                            assertThrows(IllegalArgumentException.class, call).getMessage());
                }
            }
        }
    }
}
