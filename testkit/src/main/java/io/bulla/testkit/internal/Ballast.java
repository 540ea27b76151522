// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.internal;

import org.jspecify.annotations.Nullable;

/// Fills the heap to the brim, and leaves as much room as it is told to.
///
/// Other threads fail for want of memory too while it is full: in a JVM of its own, of 16 to 64 MiB.
public final class Ballast {

    /// References in an array: 512 KiB, 4 KiB, and one.
    private static final int[] STEPS = {1 << 17, 1 << 10, 1};

    /// The smallest object that can keep another.
    private record Link(@Nullable Link next) {}

    private final int free;
    private @Nullable Object @Nullable [] blocks;
    private @Nullable Link links;
    private @Nullable Object room;

    /// @param free bytes to be left, at least 0; with 0 there is room for no object
    public Ballast(int free) {
        this.free = free;
    }

    public int free() {
        return free;
    }

    /// Fills the heap once, and gives it back. The first time in a JVM leaves some 1,000 bytes: the class of the
    /// smallest object cannot be loaded, and what weak references kept is let go a little later.
    public static void rehearse() {
        Ballast ballast = new Ballast(0);
        ballast.fill();
        ballast.drop();
    }

    /// Takes all of the heap but the room.
    public void fill() {
        room = free == 0 ? null : new byte[free];
        for (int step : STEPS) {
            fill(step);
        }
        fillLast();
        room = null;
    }

    private void fill(int step) {
        try {
            while (true) {
                // an array that holds the one before: nothing else is needed to keep it
                @Nullable Object[] block = new Object[step];
                block[0] = blocks;
                blocks = block;
            }
        } catch (OutOfMemoryError full) {
            // as wanted; the next step is smaller
        }
    }

    private void fillLast() {
        try {
            while (true) {
                links = new Link(links);
            }
        } catch (OutOfMemoryError full) {
            // as wanted
        }
    }

    /// Gives it back. Takes no memory.
    public void drop() {
        blocks = null;
        links = null;
        room = null;
    }
}
