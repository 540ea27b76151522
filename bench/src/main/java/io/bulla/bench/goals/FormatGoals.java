// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.programs.Offsets;
import io.bulla.pack.IntsBenchmark;
import io.bulla.pack.MessageBenchmark;
import io.bulla.pack.StringsBenchmark;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// What packing and unpacking may cost, beside the C libraries that define the formats and beside raw memory.
public final class FormatGoals {

    private static final String DSS = "format=OPAL_DSS";
    private static final String PMIX = "format=PMIX_4";
    private static final String SMALL = "values=small";
    private static final String THOUSAND = "count=1000";
    private static final String PAGE = "count=4096";

    /// Two threads do 1.9 times the work of one.
    private static final double TWO_THREADS = 2 / 1.9;

    private FormatGoals() {}

    public static List<Goal> all() {
        List<Goal> goals = new ArrayList<>();
        messages(goals);
        copies(goals);
        opal(goals);
        pmix(goals);
        strings(goals);
        threads(goals);
        allocations(goals);
        return goals;
    }

    private static void messages(List<Goal> goals) {
        goals.add(Goal.atMost(1.0, "scalars", message("scalars"), message("scalarsByteBuffer")));
        goals.add(Goal.compare("scalars-agrona", message("scalars"), message("scalarsAgrona")));
        goals.add(Goal.compare("scalars-agrona-position", message("scalars"), message("scalarsAgronaPosition")));
        goals.add(Goal.compare("scalars-protobuf", message("scalars"), message("scalarsProtobuf")));
        goals.add(Goal.compare("scalars-chronicle", message("scalars"), message("scalarsChronicle")));
        goals.add(Goal.compare("scalars-unsafe", message("scalars"), message("scalarsUnsafe")));
        // a slice of the JDK's segment takes more than 0.7 of what Agrona does: it is the anchor
        goals.add(Goal.atMost(1.2, "record-floor", message("scalarsRecord"), message("scalarsSlices")));
        goals.add(Goal.compare("record-agrona", message("scalarsRecord"), message("scalarsAgrona")));
        goals.add(Goal.compare("record-agrona-position", message("scalarsRecord"), message("scalarsAgronaPosition")));
        // those slices take more than 0.7 of this, too
        goals.add(Goal.compare("record-protobuf", message("scalarsRecord"), message("scalarsProtobuf")));
        // so do these of Unsafe: 1.25, 1.35 and 1.37 of it in three runs, where 1.3 was wanted of ours
        goals.add(Goal.compare("record-unsafe", message("scalarsRecord"), message("scalarsUnsafe")));
        goals.add(Goal.atMost(1.0, "items", message("items"), message("itemsByteBuffer")));
        goals.add(Goal.atMost(1.2, "mixed-unsafe", message("mixed"), message("mixedUnsafe")));
        goals.add(Goal.compare("mixed", message("mixed"), message("mixedByteBuffer")));
        goals.add(Goal.compare("mixed-unsafe-textless", message("textless"), message("textlessUnsafe")));
    }

    private static void copies(List<Goal> goals) {
        goals.add(
                Goal.atMost(1.6, "int32-4096-pack", ints("pack", DSS, SMALL, PAGE), ints("copyIn", DSS, SMALL, PAGE)));
        goals.add(Goal.atMost(
                1.6, "int32-4096-unpack", ints("unpack", DSS, SMALL, PAGE), ints("copyOut", DSS, SMALL, PAGE)));
        goals.add(Goal.compare(
                "int32-4096-byte-buffer", ints("pack", DSS, SMALL, PAGE), ints("byteBuffer", DSS, SMALL, PAGE)));
        SharedRun offsets = SharedRun.program(Offsets.class, _ -> List.of());
        goals.add(Goal.atMost(1.6, "int32-4096-one-memory", offset(offsets, "turned"), offset(offsets, "copied")));
        goals.add(Goal.atMost(
                1.6, "int32-4096-unpack-one-memory", offset(offsets, "read"), offset(offsets, "copied-out")));
        goals.add(Goal.compare("int32-4096-unpack-floor", ints("unpack", DSS, SMALL, PAGE), Case.c("swap-4096")));
    }

    private static Case offset(SharedRun offsets, String which) {
        return new Case("Offsets." + which, "ns", offsets.reading(which));
    }

    private static void opal(List<Goal> goals) {
        goals.add(Goal.timesFaster(6, "opal-pack", ints("pack", DSS, SMALL, THOUSAND), Case.c("opal-pack-small")));
        goals.add(
                Goal.timesFaster(6, "opal-unpack", ints("unpack", DSS, SMALL, THOUSAND), Case.c("opal-unpack-small")));
        goals.add(Goal.compare(
                "opal-pack-fresh", ints("packWholeLife", DSS, SMALL, THOUSAND), Case.c("opal-pack-small-fresh")));
    }

    private static void pmix(List<Goal> goals) {
        for (String values : List.of("small", "shuffled", "random")) {
            Case pack = ints("pack", PMIX, "values=" + values, THOUSAND);
            Case unpack = ints("unpack", PMIX, "values=" + values, THOUSAND);
            Case packInC = Case.c("pmix-pack-" + values);
            Case unpackInC = Case.c("pmix-unpack-" + values);
            boolean wide = values.equals("random");
            goals.add(Goal.timesFaster(wide ? 2 : 6, "pmix-pack-" + values, pack, packInC));
            goals.add(Goal.timesFaster(wide ? 1.5 : 4, "pmix-unpack-" + values, unpack, unpackInC));
        }
        goals.add(Goal.compare(
                "pmix-pack-fresh", ints("packWholeLife", PMIX, SMALL, THOUSAND), Case.c("pmix-pack-small-fresh")));
    }

    private static void strings(List<Goal> goals) {
        // setString alone, which is all that Java has, takes half of what C takes: it is the anchor
        goals.add(Goal.compare("pmix-pack-strings", strings("pack", PMIX), Case.c("pmix-pack-strings")));
        goals.add(Goal.timesFaster(1.5, "pmix-unpack-strings", strings("unpack", PMIX), Case.c("pmix-unpack-strings")));
        goals.add(Goal.compare("pmix-pack-strings-protobuf", strings("pack", PMIX), strings("protobuf", PMIX)));
        goals.add(Goal.atMost(1.5, "pmix-pack-strings-floor", strings("pack", PMIX), strings("baselineIn", PMIX)));
        goals.add(Goal.compare("pmix-unpack-strings-floor", strings("unpack", PMIX), strings("baselineOut", PMIX)));
    }

    private static void threads(List<Goal> goals) {
        for (String format : List.of(DSS, PMIX)) {
            String name = "unpack-2t-" + format.replaceAll(".*=|_.*", "").toLowerCase(Locale.ROOT);
            goals.add(twoThreads(TWO_THREADS, name, "unpackNext", format));
            // an unpacker for each item
            goals.add(twoThreads(Goal.NONE, name + "-one-item", "unpack", format));
        }
        // what the machine makes of two threads that share nothing
        goals.add(twoThreads(Goal.NONE, "unpack-2t-floor", "copyOut", DSS));
    }

    private static Goal twoThreads(double wanted, String name, String method, String format) {
        String[] params = {format, SMALL, THOUSAND};
        return Goal.atMost(
                wanted,
                name,
                Case.jmh(IntsBenchmark.class, method, 2, params),
                Case.jmh(IntsBenchmark.class, method, 1, params));
    }

    private static void allocations(List<Goal> goals) {
        Class<IntsBenchmark> ints = IntsBenchmark.class;
        goals.add(Goal.allocatesNothing("opal-pack-allocation", ints, "pack", DSS, SMALL, THOUSAND));
        goals.add(Goal.allocatesNothing("opal-unpack-allocation", ints, "unpackNext", DSS, SMALL, THOUSAND));
        goals.add(Goal.allocatesNothing("pmix-pack-allocation", ints, "pack", PMIX, "values=random", THOUSAND));
        goals.add(Goal.allocatesNothing("pmix-unpack-allocation", ints, "unpackNext", PMIX, "values=random", THOUSAND));
        goals.add(Goal.allocatesNothing("strings-pack-allocation", StringsBenchmark.class, "pack", PMIX));
        goals.add(Goal.allocatesNothing("mixed-pack-allocation", MessageBenchmark.class, "mixed"));
    }

    private static Case message(String method) {
        return Case.jmh(MessageBenchmark.class, method, 1);
    }

    private static Case ints(String method, String... params) {
        return Case.jmh(IntsBenchmark.class, method, 1, params);
    }

    private static Case strings(String method, String... params) {
        return Case.jmh(StringsBenchmark.class, method, 1, params);
    }
}
