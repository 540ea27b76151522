// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.refcount.internal.StillHeld;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StillHeldTest {

    private final List<String> lines = new ArrayList<>();
    private final StillHeld stillHeld = new StillHeld("chunks", 10_000_000, () -> "me: handles=1", lines::add);

    @Test
    void whatIsHeldAfterTheGraceIsSaidOnce() {
        stillHeld.look(2, 100);
        stillHeld.look(2, 9_000_000);
        assertEquals(List.of(), lines);
        stillHeld.look(1, 11_000_100);
        stillHeld.look(1, 99_000_000);
        assertEquals(
                List.of("memory source closed with open handles: chunks=1 waited=11ms held by [me: handles=1]"), lines);
    }

    @Test
    void whatIsGivenBackInTimeIsNotSaid() {
        stillHeld.look(1, 0);
        stillHeld.look(0, 20_000_000);
        assertEquals(List.of(), lines);
    }
}
