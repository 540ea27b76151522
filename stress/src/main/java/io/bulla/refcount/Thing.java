// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import java.util.concurrent.atomic.AtomicInteger;

/// A counted resource that tells how often it was freed, and can be striped over `cells` cells.
class Thing extends RefCount {

    final AtomicInteger frees = new AtomicInteger();
    private final int cells;

    Thing() {
        this(2);
    }

    Thing(int cells) {
        super(null);
        this.cells = cells;
    }

    @Override
    protected void free() {
        frees.incrementAndGet();
    }

    @Override
    int cellCount() {
        return cells;
    }
}
