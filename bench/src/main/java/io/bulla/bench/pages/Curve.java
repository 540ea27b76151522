// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.pages;

import io.bulla.bench.goals.Case;
import io.bulla.bench.goals.Results;
import io.bulla.bench.numbers.Units;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// A picture as numbers: what each of several designs costs, from place to place on an axis.
///
/// @param name of the file and of the printed lines
/// @param title above the picture
/// @param sight one sentence: what to see
/// @param axis what the places are
/// @param unit of the costs
/// @param shape how it is drawn
/// @param places on the axis
/// @param lines one for each design, Bulla's first
public record Curve(
        String name,
        String title,
        String sight,
        String axis,
        String unit,
        Shape shape,
        double[] places,
        List<Line> lines) {

    /// How a picture is drawn.
    enum Shape {
        /// A group of bars for each place, each bar a multiple of the first design's cost there.
        RATIOS,
        /// A line for each design over time; places are milliseconds.
        TIMES
    }

    /// One design.
    ///
    /// @param label for the reader
    /// @param cases one for each place
    record Line(String label, List<Case> cases) {}

    /// A line for each point.
    public Stream<String> lines(Results results) {
        return lines.stream()
                .flatMap(line -> IntStream.range(0, places.length)
                        .mapToObj(i -> String.format(
                                Locale.ROOT,
                                "curve=%s at=%s design=\"%s\" %s=%s",
                                name,
                                Units.place(places[i]).replace(" ", ""),
                                line.label(),
                                unit,
                                Units.rounded(results.median(line.cases().get(i))))));
    }

    public Stream<Case> cases() {
        return lines.stream().flatMap(line -> line.cases().stream());
    }
}
