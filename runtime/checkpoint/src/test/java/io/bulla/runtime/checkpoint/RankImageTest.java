// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.cut.NodeCut;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/// Handles of an image whose memory does not let itself be given back.
class RankImageTest {

    private final List<String> released = new ArrayList<>();

    private SealedBuffer buffer(String name) {
        return SealedBuffer.adopt(MemorySegment.ofArray(new byte[1]), () -> {
            released.add(name);
            throw new IllegalStateException(name);
        });
    }

    private Message message(String name) {
        return new Message(0, 1, Optional.empty(), buffer(name));
    }

    private NodeCut.OfLane lane(String name) {
        NodeCut.Outgoing first =
                new NodeCut.Outgoing(1, NodeCut.UNNUMBERED, 1, Optional.empty(), 1, Optional.of(buffer(name)));
        NodeCut.Outgoing none = new NodeCut.Outgoing(2, NodeCut.UNNUMBERED, 1, Optional.empty(), 1, Optional.empty());
        return new NodeCut.OfLane(0, 0, 0, List.of(none, first));
    }

    @Test
    void eachIsGivenBackWhateverAnotherOneThrows() {
        NodeCut cut = new NodeCut(
                0,
                2,
                List.of(new NodeCut.OfPeer(1, List.of(lane("small"), lane("long"), lane("confirmation")))),
                List.of(message("arrived"), message("arrived last")),
                List.of(message("broadcast")));
        RankImage image = new RankImage(cut, new TreeMap<>(Map.of("a", buffer("a"), "b", buffer("b"))));
        assertEquals(6, cut.undelivered());
        IllegalStateException first = assertThrows(IllegalStateException.class, image::close);
        assertEquals(
                List.of("small", "long", "confirmation", "arrived", "arrived last", "broadcast", "a", "b"), released);
        assertEquals("small", first.getMessage());
        assertEquals(7, first.getSuppressed().length);
    }

    @Test
    void eachStateOfACutIsGivenBackWhateverAnotherOneThrows() {
        Saving saving = new Saving(Map.of("a", () -> buffer("a"), "b", () -> buffer("b")));
        saving.run();
        assertThrows(IllegalStateException.class, saving::close);
        assertEquals(2, released.size(), () -> "released=" + released);
    }
}
