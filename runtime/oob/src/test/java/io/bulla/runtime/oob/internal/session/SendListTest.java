// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// A list of sends does what a list of the JDK's does, whatever is taken out where.
class SendListTest {

    private static final int STEPS = 20_000;

    private final Sends sends = new Sends();

    private static void assertAlike(List<PendingSend> wanted, SendList list) {
        assertEquals(wanted.isEmpty(), list.isEmpty());
        assertEquals(wanted.size(), list.size());
        PendingSend before = null;
        PendingSend at = list.first();
        for (PendingSend each : wanted) {
            assertSame(each, at);
            assertSame(before, at.previous);
            before = at;
            at = at.next;
        }
        assertNull(at);
    }

    @Test
    void listIsAsTheJdksAfterEachStep() {
        Random random = new Random(1);
        SendList list = new SendList();
        SendList others = new SendList();
        List<PendingSend> wanted = new ArrayList<>();
        List<PendingSend> wantedOthers = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            switch (random.nextInt(8)) {
                case 0, 1 -> {
                    PendingSend added = sends.send(1, 1);
                    list.addLast(added);
                    wanted.add(added);
                }
                case 2, 3 -> {
                    PendingSend added = sends.send(1, 1);
                    others.addLast(added);
                    wantedOthers.add(added);
                }
                case 4 -> assertSame(wanted.isEmpty() ? null : wanted.removeFirst(), list.poll());
                case 5, 6 -> {
                    if (!wanted.isEmpty()) {
                        PendingSend removed = wanted.remove(random.nextInt(wanted.size()));
                        list.remove(removed);
                        assertNull(removed.previous);
                        assertNull(removed.next);
                    }
                }
                default -> {
                    list.addAllFirst(others);
                    wanted.addAll(0, wantedOthers);
                    wantedOthers.clear();
                }
            }
            assertAlike(wanted, list);
            assertAlike(wantedOthers, others);
        }
        assertTrue(list.size() + others.size() > 0, "nothing was left to look at");
    }

    @Test
    void emptyListHasNoneToPoll() {
        SendList list = new SendList();
        assertNull(list.poll());
        list.addLast(sends.send(1, 1));
        list.poll();
        assertNull(list.poll());
        assertAlike(List.of(), list);
    }
}
