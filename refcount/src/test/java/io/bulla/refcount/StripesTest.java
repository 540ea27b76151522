// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StripesTest {

    private static final int CAP = 16 * 1024;

    @AfterEach
    void noCellIsLeftBehind() {
        assertEquals(0, Stripes.inUse());
    }

    @Test
    void cellsOfTheProcessAreCappedAndACountThatMeetsTheCapStaysOneWord() {
        List<Stripes> all = new ArrayList<>();
        for (Stripes one = Stripes.tryCreate(null, 4); one != null; one = Stripes.tryCreate(null, 4)) {
            all.add(one);
        }
        assertEquals(CAP, 4 * all.size());
        assertEquals(CAP, Stripes.inUse());
        Counted thing = new Counted();
        thing.retain(9);
        thing.stripe();
        assertFalse(thing.isStriped());
        all.removeLast().drop();
        thing.stripe();
        assertTrue(thing.isStriped());
        assertNull(Stripes.tryCreate(null, 4));
        thing.release(10);
        all.forEach(Stripes::drop);
    }

    @Test
    void fillSpreadsEvenlyAndSaysHowMany() {
        Stripes cells = Stripes.tryCreate(null, 4);
        assertEquals(8, cells.fill(11));
        assertEquals(8, cells.holders());
        cells.drop();
    }

    @Test
    void manyAreSpreadOverAllCellsAndFewGoHome() {
        Stripes cells = Stripes.tryCreate(null, 4);
        assertEquals(0, cells.add(1, 3));
        Cells each = Cells.of(cells);
        assertEquals(List.of(0L, 3L, 0L, 0L), List.of(each.at(0), each.at(1), each.at(2), each.at(3)));
        assertEquals(0, cells.add(2, 64));
        assertEquals(List.of(16L, 19L, 16L, 16L), List.of(each.at(0), each.at(1), each.at(2), each.at(3)));
        assertEquals(67, cells.holders());
        for (int i = 0; i < 67; i++) {
            assertTrue(cells.take(3));
        }
        assertFalse(cells.take(3));
        cells.drop();
    }

    @Test
    void foldedCellsAreFinalAndSayHowManyFoundNoRoom() {
        Stripes cells = Stripes.tryCreate(null, 4);
        Counted thing = new Counted();
        cells.fill(8);
        // each cell's bias is a holder of the word's, which the fold takes away
        for (long bias = 4L << 44; bias > 0; bias -= Math.min(bias, Integer.MAX_VALUE)) {
            assertTrue(thing.retain((int) Math.min(bias, Integer.MAX_VALUE)));
        }
        cells.fold(thing);
        assertEquals(9, thing.holders());
        cells.fold(thing);
        assertEquals(9, thing.holders());
        assertEquals(64, cells.add(0, 64));
        assertEquals(1, cells.add(0, 1));
        assertFalse(cells.take(0));
        assertEquals(0, cells.holders());
        cells.drop();
        assertFalse(cells.spent().isLive());
        assertEquals(5, cells.spent().add(0, 5));
    }

    @Test
    void roundsEnd() {
        Stripes last = null;
        int rounds = 0;
        while (rounds < 100 && (last == null || last.mayFollow())) {
            Stripes cells = Stripes.tryCreate(last, 4);
            assertFalse(cells.mayFollow(), "cells that live");
            last = cells.spent();
            cells.drop();
            rounds++;
        }
        assertEquals(8, rounds);
    }
}
