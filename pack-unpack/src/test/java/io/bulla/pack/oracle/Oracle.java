// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import io.bulla.pack.Compressed;
import io.bulla.pack.FloatText;
import io.bulla.pack.Limits;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.DataType;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/// Compares Java with a C library over random cases, and prints one line; exit status 1 if they differ.
///
/// Arguments: format, number of cases, seed, and types that the library does not know, if any. Its environment says
/// what the library speaks, see [Pmix].
final class Oracle {

    private static final int MOST_REPORTS = 5;
    private static final Set<DataType> FLOATS = EnumSet.of(DataType.FLOAT, DataType.DOUBLE);

    private final WireFormat format;
    private final long seed;
    private final CLibrary c;
    private final List<JavaLibrary> java;
    private final JavaLibrary lossless;
    private final Set<DataType> unknownToC;
    private long differences;
    private long notPacked;
    private long notUnpacked;

    private Oracle(WireFormat format, long seed, CLibrary c, Set<DataType> unknownToC) {
        this.format = format;
        this.seed = seed;
        this.c = c;
        this.java = List.of(
                new JavaLibrary(format, true, FloatText.STRICT), new JavaLibrary(format, false, FloatText.STRICT));
        this.lossless = new JavaLibrary(format, true, FloatText.LOSSLESS);
        this.unknownToC = unknownToC;
    }

    /// Runs.
    ///
    /// @param args see above
    /// @throws Throwable if the library fails where it should not
    public static void main(String[] args) throws Throwable {
        WireFormat format = WireFormat.valueOf(args[0]);
        long cases = Long.parseLong(args[1]);
        long seed = Long.parseLong(args[2]);
        Set<DataType> unknownToC = EnumSet.noneOf(DataType.class);
        Arrays.stream(args).skip(3).map(DataType::valueOf).forEach(unknownToC::add);
        CLibrary c;
        try {
            c = format.knows(DataType.NAME) ? OpalDss.open(format) : Pmix.open(format);
        } catch (IllegalArgumentException notThere) {
            System.out.println("oracle skipped: " + format + ": " + notThere.getMessage());
            return;
        }
        Oracle oracle = new Oracle(format, seed, c, unknownToC);
        oracle.run(cases);
        if (c instanceof Pmix pmix && format == WireFormat.PMIX_4) {
            oracle.compress(pmix, cases / 100);
        }
        System.exit(oracle.differences == 0 ? 0 : 1);
    }

    private void run(long cases) {
        String name = format.described(false) + (format.described() ? " described" : " undescribed");
        RandomItems items = new RandomItems(format, unknownToC);
        long start = System.nanoTime();
        for (long number = 0; number < cases; number++) {
            Difference difference = compare(items.of(RandomNumbers.of(seed, number)));
            if (difference != null && ++differences <= MOST_REPORTS) {
                reduced(difference).report(format, seed, number);
            }
        }
        System.out.printf(
                Locale.ROOT,
                "oracle %s: cases=%d differences=%d seconds=%.1f c-cannot-pack=%d c-cannot-unpack=%d seed=%d by=%s%n",
                name,
                cases,
                differences,
                (System.nanoTime() - start) / 1e9,
                notPacked,
                notUnpacked,
                seed,
                c.version());
    }

    private void compress(Pmix pmix, long cases) {
        long before = differences;
        long byCToo = 0;
        for (long number = 0; number < cases; number++) {
            byte[] text = RandomNumbers.of(seed, number).compressible();
            byte[] byJava = CValues.bytes(Compressed.of(text));
            byte[] byC = pmix.compressed(text);
            try {
                same(text, pmix.inflated(byJava));
                if (byC != null) {
                    byCToo++;
                    same(text, Compressed.bytes(CValues.vector(byC), Limits.DEFAULT));
                }
            } catch (RuntimeException | AssertionError failure) {
                differences++;
                new Difference(List.of(), "compressing: " + failure, byJava, byC).report(format, seed, number);
            }
        }
        System.out.println("oracle compressed: cases=" + cases + " differences=" + (differences - before)
                + " compressed-by-c=" + byCToo + " seed=" + seed + " by=" + c.version());
    }

    /// What differs, or null.
    private Difference compare(List<Item> items) {
        byte[] byJava = null;
        byte[] byC = null;
        String doing = "packing";
        try {
            byC = Defects.canPack(items) ? c.pack(items) : null;
            notPacked += byC == null ? 1 : 0;
            for (JavaLibrary each : java) {
                byte[] before = byC == null ? byJava : byC;
                byJava = each.pack(items);
                same(before == null ? byJava : before, byJava);
            }
            doing = "unpacking by C";
            if (Defects.canUnpack(format, items)) {
                same(Expected.byC(format, FloatText.STRICT).of(items), c.unpack(byJava, items));
                if (items.stream().anyMatch(item -> FLOATS.contains(item.type()))) {
                    same(Expected.byC(format, FloatText.LOSSLESS).of(items), c.unpack(lossless.pack(items), items));
                }
            } else {
                notUnpacked++;
            }
            doing = "unpacking by Java";
            for (JavaLibrary each : java) {
                same(Expected.BY_JAVA.of(items), each.unpack(byC == null ? byJava : byC, items));
            }
            return null;
        } catch (RuntimeException | AssertionError failure) {
            return new Difference(items, doing + ": " + failure, byJava, byC);
        }
    }

    private static void same(byte[] expected, byte[] found) {
        int at = Arrays.mismatch(expected, found);
        if (at >= 0) {
            throw new AssertionError("bytes differ: offset=" + at);
        }
    }

    private static void same(Object expected, Object found) {
        if (!expected.equals(found)) {
            throw new AssertionError(
                    "differs: expected=" + Difference.cut(expected) + " found=" + Difference.cut(found));
        }
    }

    /// The same difference in one item, and in one value, if it is there.
    private Difference reduced(Difference whole) {
        Difference smallest = whole;
        for (Item item : whole.items()) {
            for (Object value : item.values()) {
                List<Item> one = List.of(new Item(item.type(), Collections.singletonList(value)));
                Difference difference = compare(one);
                if (difference != null) {
                    return difference;
                }
            }
            Difference difference = compare(List.of(item));
            smallest = difference == null ? smallest : difference;
        }
        return smallest;
    }
}
