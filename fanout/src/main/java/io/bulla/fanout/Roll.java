// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import org.jspecify.annotations.Nullable;

/// The subscriptions that get the same messages, in the order in which they came. To add and to remove one costs the
/// same however many there are.
///
/// What a look has seen stays in its array: a seat that is left becomes empty there or in the array that took its
/// place, and no seat is taken again.
final class Roll {

    private static final int FEWEST = 4;
    private static final @Nullable Seat[] NONE = {};

    /// One subscription's place in a roll.
    static class Seat implements Owner {

        private final Roll roll;
        private @Nullable Subscription who;
        // in the array; -1 before it is taken, and once it is left
        private int index = -1;
        private boolean left;

        Seat(Roll roll) {
            this.roll = roll;
        }

        /// The subscription, unless it has left. A look at what another thread may be writing: one that leaves
        /// meanwhile refuses the message itself, or gets it as the last one.
        @Nullable
        final Subscription who() {
            return left ? null : who;
        }

        @Override
        public final void onLeft() {
            roll.remove(this);
        }
    }

    /// The first `end` seats of an array, of which `count` are taken.
    record Look(@Nullable Seat[] seats, int end, int count) {

        @Nullable
        Subscription at(int index) {
            // a plain read: the seat that the roll's lock showed to this look, or nothing if it was left since
            @Nullable Seat seat = seats[index];
            return seat == null ? null : seat.who();
        }
    }

    // all below are guarded by this
    private @Nullable Seat[] seats = NONE;
    private int end;
    private int taken;

    /// Seats a subscription, unless it has left already.
    synchronized void add(Seat seat, Subscription who) {
        if (seat.left) {
            return;
        }
        if (end == seats.length) {
            renumber(Math.max(FEWEST, taken * 2));
        }
        seat.who = who;
        seat.index = end;
        seats[end++] = seat;
        taken++;
    }

    /// Cannot fail; again is harmless.
    private synchronized void remove(Seat seat) {
        seat.left = true;
        if (seat.index >= 0) {
            seats[seat.index] = null;
            seat.index = -1;
            taken--;
        }
    }

    /// Those that are subscribed now.
    synchronized Look look() {
        if (end > FEWEST && taken < end / 4) {
            renumber(Math.max(FEWEST, taken * 2));
        }
        return new Look(seats, end, taken);
    }

    synchronized int size() {
        return taken;
    }

    /// Into an array of its own, for looks go on in the one before.
    private void renumber(int capacity) {
        @Nullable Seat[] next = new Seat[capacity];
        int count = 0;
        for (int i = 0; i < end; i++) {
            @Nullable Seat seat = seats[i];
            if (seat != null) {
                seat.index = count;
                next[count++] = seat;
            }
        }
        seats = next;
        end = count;
    }
}
