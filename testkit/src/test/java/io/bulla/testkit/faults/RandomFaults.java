// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import java.util.logging.Logger;

/// Users beside each other while one call in forty fails: `[--minutes M] [--seed N]`, one round of ten seconds after
/// the other. Each round has sources of its own, and everything has to be back at its end.
///
/// It exits with 1 if a promise was broken, and says how to run that round again.
public final class RandomFaults {

    // kept, for a logger that nothing refers to forgets its level
    private static final Logger LIBRARIES = Logger.getLogger("io.bulla");
    private static final int USERS = 4;
    private static final long ROUND_NANOS = 10_000_000_000L;

    private long rounds;
    private long operations;
    private long calls;
    private long failures;
    private final List<String> violations = new ArrayList<>();

    RandomFaults() {
        // every injected fault that a thread of the libraries survives is logged
        LIBRARIES.setLevel(Level.OFF);
    }

    public static void main(String[] arguments) throws InterruptedException {
        double minutes = 2;
        long seed = System.nanoTime();
        for (int i = 0; i + 1 < arguments.length; i += 2) {
            switch (arguments[i]) {
                case "--minutes" -> minutes = Double.parseDouble(arguments[i + 1]);
                case "--seed" -> seed = Long.parseLong(arguments[i + 1]);
                default -> throw new IllegalArgumentException("unknown option: " + arguments[i]);
            }
        }
        System.out.println("random faults: seed=" + seed + " minutes=" + minutes + " users=" + USERS);
        RandomFaults all = new RandomFaults();
        long end = System.nanoTime() + (long) (minutes * 60e9);
        while (System.nanoTime() < end && all.violations.isEmpty()) {
            all.round(seed + all.rounds, ROUND_NANOS);
        }
        System.out.println(all.line());
        System.exit(all.violations.isEmpty() ? 0 : 1);
    }

    private void round(long seed, long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        round(seed, () -> System.nanoTime() < end);
    }

    /// @return what was broken
    Collection<String> round(long seed, BooleanSupplier goesOn) throws InterruptedException {
        RandomWorld world = new RandomWorld(seed);
        AtomicBoolean stopped = new AtomicBoolean();
        List<RandomUser> users = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < USERS; i++) {
            users.add(new RandomUser(world, seed * USERS + i, () -> !stopped.get() && goesOn.getAsBoolean()));
            threads.add(Thread.ofPlatform().name("user-" + i).start(users.getLast()));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        users.forEach(user -> operations += user.operations);
        users.clear();
        world.end();
        rounds++;
        calls += world.points.calls();
        failures += world.points.failures();
        world.violations.forEach(violation -> System.out.println("  violation seed=" + seed + " " + violation
                + "\n    replay: ./check faults --minutes 0.1 --seed " + seed));
        violations.addAll(world.violations);
        return world.violations;
    }

    String line() {
        return "random faults: rounds=" + rounds + " operations=" + operations + " calls=" + calls + "\n"
                + "faults: area=random operations=" + new HashSet<>(RandomUser.OPERATIONS).size() + " points=" + calls
                + " failed=" + failures + " violations=" + violations.size();
    }
}
