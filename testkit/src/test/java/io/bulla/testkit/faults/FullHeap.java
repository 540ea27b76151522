// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.testkit.FaultRun;
import io.bulla.testkit.FaultRun.Operation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;

/// A program for a JVM of 16 to 64 MiB: public operations of the four libraries while its heap is full.
/// `[--seed N] [--seconds S] [--operation PART]`
///
/// It exits with 1 if a promise was broken, and says how to run that operation again.
public final class FullHeap {

    private FullHeap() {}

    public static void main(String[] arguments) {
        long seed = System.nanoTime();
        long seconds = 3600;
        String part = "";
        for (int i = 0; i + 1 < arguments.length; i += 2) {
            switch (arguments[i]) {
                case "--seed" -> seed = Long.parseLong(arguments[i + 1]);
                case "--seconds" -> seconds = Long.parseLong(arguments[i + 1]);
                case "--operation" -> part = arguments[i + 1];
                default -> throw new IllegalArgumentException("unknown option: " + arguments[i]);
            }
        }
        System.exit(run(seed, seconds, part) ? 0 : 1);
    }

    private static boolean run(long seed, long seconds, String part) {
        FaultRun run = new FaultRun("heap");
        long end = System.nanoTime() + seconds * 1_000_000_000;
        for (Map.Entry<String, List<Operation>> one : shuffled(seed)) {
            if (one.getKey().contains(part) && System.nanoTime() < end) {
                int before = run.report().violations().size();
                run.onFullHeap(one.getKey(), one.getValue(), seed);
                // at once, for this JVM may not live to its end
                run.report().violations().stream()
                        .skip(before)
                        .forEach(violation -> System.out.println("  violation " + violation + "\n    replay: -Xmx"
                                + (Runtime.getRuntime().maxMemory() >> 20) + "m FullHeap --seed " + seed
                                + " --operation '" + one.getKey() + "'"));
            }
        }
        System.out.println(run.report().line());
        return run.report().violations().isEmpty();
    }

    private static List<Map.Entry<String, List<Operation>>> shuffled(long seed) {
        List<Map.Entry<String, List<Operation>>> all = new ArrayList<>();
        Catalogues.all().forEach(catalogue -> all.addAll(catalogue.runs().entrySet()));
        Collections.shuffle(all, new Random(seed));
        return all;
    }
}
