// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.shared.AeronPair;
import io.bulla.bench.shared.OneThread;
import io.bulla.bench.shared.PlacePair;
import io.bulla.bench.shared.SharedFanOut;
import io.bulla.bench.shared.SharedPair;
import java.util.ArrayList;
import java.util.List;

/// Messages between processes of one host by shared slabs, against the other ways.
public final class SharedGoals {

    private static final int PROCESSES = 64;
    private static final int SMALL = 64;
    private static final int LARGE = 4 << 20;
    private static final SharedRun FAN_OUT =
            SharedRun.program(SharedFanOut.class, _ -> List.of(Integer.toString(PROCESSES)));

    private SharedGoals() {}

    /// The goals, in the order in which they are printed.
    ///
    /// @return a fresh list
    public static List<Goal> all() {
        List<Goal> goals = new ArrayList<>();
        fanOut(goals);
        return goals;
    }

    /// Those between two processes.
    ///
    /// @return a fresh list
    public static List<Goal> pairs() {
        List<Goal> goals = new ArrayList<>();
        roundTrip(goals);
        goals.add(Goal.compare("shared-one-way-64-aeron", places(SMALL), aeron(SMALL)));
        goals.add(Goal.compare("shared-one-way-64-socket", pair("one-way", "slab", SMALL), aeron(SMALL)));
        oneWay(goals, "4k", 1 << 12, 1.3);
        oneWay(goals, "256k", 1 << 18, 50);
        oneWay(goals, "4m", LARGE, 200);
        processor(goals, "64", SMALL);
        processor(goals, "4k", 1 << 12);
        processor(goals, "256k", 1 << 18);
        processor(goals, "4m", LARGE);
        return goals;
    }

    private static void fanOut(List<Goal> goals) {
        Case lent = fanOut("slab", LARGE, "ends");
        goals.add(Goal.compare("shared-fan-out-64-4m", lent, fanOut("bytes", LARGE, "ends")));
        // 64 bytes are a wake-up of the same JVMs, and little else
        goals.add(Goal.atMost(2, "shared-fan-out-64-4m-floor", lent, fanOut("bytes", SMALL, "ends")));
        goals.add(Goal.compare(
                "shared-fan-out-64-4m-c", lent, Case.c(CProgram.WAKE, "fan-out-" + PROCESSES + "-" + LARGE)));
        goals.add(Goal.atMost(1.3, "shared-fan-out-64-4m-to-64", lent, fanOut("slab", SMALL, "ends")));
        goals.add(Goal.timesFaster(2, "shared-fan-out-64-4m-seal", lent, fanOut("seal", LARGE, "ends")));
        // 64 processes that read all of it take more than an eighth, however it came to them
        Case readByAll = fanOut("slab", LARGE, "all");
        goals.add(Goal.compare("shared-fan-out-64-4m-all", readByAll, fanOut("bytes", LARGE, "all")));
        goals.add(Goal.atMost(1.5, "shared-fan-out-64-4m-all-floor", readByAll, fanOut("there", LARGE, "all")));
        goals.add(Goal.compare(
                "shared-fan-out-64-64-bytes", fanOut("slab", SMALL, "ends"), fanOut("bytes", SMALL, "ends")));
    }

    private static void roundTrip(List<Goal> goals) {
        Case lent = pair("round-trip", "slab", LARGE);
        goals.add(Goal.atMost(3, "shared-round-trip-4m-to-64", lent, pair("round-trip", "slab", SMALL)));
        goals.add(Goal.timesFaster(3, "shared-round-trip-4m-seal", lent, pair("round-trip", "seal", LARGE)));
        goals.add(Goal.compare("shared-round-trip-4m-bytes", lent, pair("round-trip", "bytes", LARGE)));
        goals.add(Goal.compare("shared-round-trip-4m-floor", lent, Case.c(CProgram.WAKE, "round-trip-1-" + LARGE)));
    }

    private static void oneWay(List<Goal> goals, String size, int bytes, double times) {
        Case lent = pair("one-way", "slab", bytes);
        goals.add(Goal.timesFaster(times, "shared-one-way-" + size + "-aeron", places(bytes), aeron(bytes)));
        goals.add(Goal.compare("shared-one-way-" + size + "-socket", lent, aeron(bytes)));
        goals.add(Goal.compare("shared-one-way-" + size + "-bytes", lent, pair("one-way", "bytes", bytes)));
    }

    /// What both ends take of a processor, by turns on one thread.
    private static void processor(List<Goal> goals, String size, int bytes) {
        Case bare = Case.program("ns", OneThread.class, "aeron", Integer.toString(bytes));
        for (String way : List.of("places", "socket")) {
            goals.add(Goal.compare(
                    "shared-processor-" + size + "-" + way,
                    Case.program("ns", OneThread.class, way, Integer.toString(bytes)),
                    bare));
        }
    }

    private static Case fanOut(String way, int bytes, String look) {
        String which = way + "-" + bytes + "-" + look;
        return new Case("SharedFanOut[" + PROCESSES + "," + which + "]", "ns", FAN_OUT.reading(which));
    }

    private static Case pair(String what, String way, int bytes) {
        return Case.program("ns", SharedPair.class, what, way, Integer.toString(bytes));
    }

    private static Case places(int bytes) {
        return Case.program("ns", PlacePair.class, Integer.toString(bytes));
    }

    private static Case aeron(int bytes) {
        return Case.program("ns", AeronPair.class, Integer.toString(bytes));
    }
}
