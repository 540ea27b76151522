// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.machine;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/// What a node takes from the world besides sockets: time, randomness and threads. Nothing else in this package
/// asks the machine for them, so that a simulator can be the machine.
///
/// @param clock in nanoseconds, never back
/// @param random any long, each as likely as another
/// @param threads of user code: handlers and listeners
/// @param watch looks after handlers that run on the event loop
public record Environment(LongSupplier clock, LongSupplier random, ThreadFactory threads, Watch watch) {

    /// The machine's own.
    public static final Environment MACHINE = new Environment(
            System::nanoTime,
            () -> ThreadLocalRandom.current().nextLong(),
            Thread.ofVirtual().factory(),
            new WatchThread());

    /// One without a watch.
    public Environment(LongSupplier clock, LongSupplier random, ThreadFactory threads) {
        this(clock, random, threads, Watch.NONE);
    }

    public long now() {
        return clock.getAsLong();
    }

    /// A number that names a session or an incarnation: never 0.
    public long name() {
        return random.getAsLong() | 1;
    }

    /// @return from `least` to `most`
    public long between(long least, long most) {
        return least + Math.floorMod(random.getAsLong(), most - least + 1);
    }
}
