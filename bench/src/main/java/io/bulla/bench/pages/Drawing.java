// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.pages;

import io.bulla.bench.goals.Case;
import io.bulla.bench.goals.Goal;
import io.bulla.bench.goals.Results;
import io.bulla.bench.numbers.Units;
import io.bulla.bench.pictures.Bars;
import io.bulla.bench.pictures.Lines;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// Curves as SVG text. A place or a design without numbers is left out.
final class Drawing {

    private static final double MILLIS = 1e3;

    /// How labels of our designs start.
    private static final String OURS = "Bulla";

    private Drawing() {}

    static String of(Curve curve, Results results) {
        return curve.shape() == Curve.Shape.RATIOS ? bars(curve, results) : lines(curve, results);
    }

    /// One bar: a design against ours.
    static Bars.Bar bar(String label, Case ours, Case design, Results results) {
        double times = 1 / Goal.compare("", ours, design).ratio(results);
        return new Bars.Bar(label, times, value(design, results), label.startsWith(OURS));
    }

    static String value(Case design, Results results) {
        return Units.human(results.median(design), design.unit());
    }

    private static String bars(Curve curve, Results results) {
        List<Bars.Group> groups = new ArrayList<>();
        for (int i = 0; i < curve.places().length; i++) {
            Case ours = curve.lines().getFirst().cases().get(i);
            if (results.of(ours) != null) {
                String head = place(curve, i) + ": Bulla takes " + value(ours, results);
                groups.add(new Bars.Group(head, group(curve, i, ours, results)));
            }
        }
        return new Bars(curve.title(), groups).svg();
    }

    private static List<Bars.Bar> group(Curve curve, int place, Case ours, Results results) {
        return curve.lines().stream()
                .filter(line -> results.of(line.cases().get(place)) != null)
                .map(line -> bar(line.label(), ours, line.cases().get(place), results))
                .toList();
    }

    /// A place in words: "64 KiB", "4 threads", "1 thread".
    private static String place(Curve curve, int i) {
        long place = (long) curve.places()[i];
        if (curve.axis().startsWith("bytes")) {
            return Units.human(place, "bytes");
        }
        String one = curve.axis().replaceFirst("s( .*)?$", "$1");
        return place + " " + (place == 1 ? one : curve.axis());
    }

    private static String lines(Curve curve, Results results) {
        List<Lines.Line> lines = curve.lines().stream()
                .map(line -> {
                    int[] there = IntStream.range(0, curve.places().length)
                            .filter(i -> results.of(line.cases().get(i)) != null)
                            .toArray();
                    return new Lines.Line(
                            line.label(),
                            IntStream.of(there)
                                    .mapToDouble(i -> curve.places()[i] / MILLIS)
                                    .toArray(),
                            IntStream.of(there)
                                    .mapToDouble(
                                            i -> results.median(line.cases().get(i)))
                                    .toArray());
                })
                .filter(line -> line.xs().length > 0)
                .toList();
        return new Lines(curve.title(), "seconds", curve.unit(), lines).svg();
    }
}
