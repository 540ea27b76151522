// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import java.util.concurrent.atomic.AtomicInteger;

/// A resource that counts how often it was freed; its user chooses the cell.
final class Counted extends RefCount {

    static final int CELLS = 4;

    final AtomicInteger frees = new AtomicInteger();
    private int home = -1;

    Counted() {
        this(null);
    }

    Counted(LeaseTrace trace) {
        super(trace);
    }

    Counted at(int home) {
        this.home = home;
        return this;
    }

    /// Takes the word's own holders away, and leaves those in the cells: they come back with the fold.
    void foldByTakingOwn() {
        long inCells = (holders() - 1) / CELLS * CELLS;
        release((int) (holders() - inCells));
    }

    @Override
    protected void free() {
        frees.incrementAndGet();
    }

    @Override
    protected long size() {
        return 64;
    }

    @Override
    int home() {
        return home < 0 ? super.home() : home;
    }

    @Override
    int cellCount() {
        return CELLS;
    }
}
