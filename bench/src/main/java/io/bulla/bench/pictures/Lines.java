// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.pictures;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;

/// Lines over time, both axes linear and from 0, with a step that a person counts in. Each line's highest number
/// stands beside its name.
///
/// @param title above the picture
/// @param axis what the horizontal axis counts
/// @param unit of the vertical one
/// @param lines each with its own points
public record Lines(String title, String axis, String unit, List<Line> lines) {

    private static final int LEFT = 64;
    private static final int TOP = 60;
    private static final int PLOT = 260;
    private static final int RIGHT = 24;
    private static final int LEGEND = 20;
    private static final int STEPS = 8;
    private static final int COLUMNS = 2;
    private static final double[] NICE = {1, 2, 5, 10};

    /// One design or meter.
    ///
    /// @param label for the reader
    /// @param xs places, ascending
    /// @param ys values
    public record Line(String label, double[] xs, double[] ys) {

        private double most() {
            return Arrays.stream(ys).max().orElse(0);
        }
    }

    /// The picture's text.
    public String svg() {
        double mostX = most(lines.stream().flatMapToDouble(line -> Arrays.stream(line.xs())));
        double mostY = most(lines.stream().flatMapToDouble(line -> Arrays.stream(line.ys())));
        double top = Math.ceil(mostY / step(mostY)) * step(mostY);
        Svg svg = new Svg().text(12, 22, "title", "start", title);
        for (double y = 0; y <= top; y += step(mostY)) {
            double at = TOP + PLOT - PLOT * y / top;
            svg.line(LEFT, at, Svg.WIDTH - RIGHT, at, "grid").text(LEFT - 8, at + 4, "faint", "end", number(y));
        }
        for (double x = 0; x <= mostX; x += step(mostX)) {
            svg.text(LEFT + width() * x / mostX, TOP + PLOT + 18, "faint", "middle", number(x));
        }
        svg.text(LEFT - 8, TOP - 14, "faint", "end", unit);
        svg.text(Svg.WIDTH - RIGHT, TOP + PLOT + 36, "faint", "end", axis);
        for (int i = 0; i < lines.size(); i++) {
            draw(svg, lines.get(i), "c" + i, mostX, top);
            legend(svg, i);
        }
        int rows = (lines.size() + COLUMNS - 1) / COLUMNS;
        return svg.done(title, TOP + PLOT + 50 + LEGEND * rows);
    }

    private static void draw(Svg svg, Line line, String style, double mostX, double top) {
        double[] xs =
                Arrays.stream(line.xs()).map(x -> LEFT + width() * x / mostX).toArray();
        double[] ys =
                Arrays.stream(line.ys()).map(y -> TOP + PLOT - PLOT * y / top).toArray();
        svg.path(xs, ys, style);
    }

    private void legend(Svg svg, int i) {
        Line line = lines.get(i);
        double x = LEFT + (double) width() * (i % COLUMNS) / COLUMNS;
        double y = TOP + PLOT + 52 + LEGEND * (i / COLUMNS);
        svg.path(new double[] {x, x + 22}, new double[] {y - 4, y - 4}, "c" + i);
        String most = String.format(Locale.ROOT, line.most() < STEPS ? "%.2f" : "%.0f", line.most());
        svg.text(x + 30, y, "", "start", line.label() + ", at most " + most + " " + unit);
    }

    private static int width() {
        return Svg.WIDTH - LEFT - RIGHT;
    }

    private static double most(DoubleStream all) {
        return Math.max(all.max().orElse(1), Double.MIN_NORMAL);
    }

    /// 1, 2 or 5 times a power of ten, for at most eight steps.
    private static double step(double most) {
        double power = Math.pow(10, Math.floor(Math.log10(most / STEPS)));
        for (double nice : NICE) {
            if (most / (nice * power) <= STEPS) {
                return nice * power;
            }
        }
        return 10 * power;
    }

    private static String number(double value) {
        return value == Math.rint(value)
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, "%.1f", value);
    }
}
