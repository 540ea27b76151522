// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench;

import java.awt.BasicStroke;
import java.awt.Color;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler.LegendLayout;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/// Draws curves as PNG.
public final class Pictures {

    private static final int WIDTH = 760;
    private static final int HEIGHT = 420;
    private static final float STROKE = 2;
    /// More designs than that do not fit side by side beneath.
    private static final int COLUMN = 4;
    /// Told apart also by those who see no difference of red and green.
    private static final Color[] COLOURS = {
        new Color(0x00, 0x72, 0xb2),
        new Color(0xd5, 0x5e, 0x00),
        new Color(0x00, 0x9e, 0x73),
        new Color(0x80, 0x80, 0x80),
        new Color(0xe6, 0x9f, 0x00),
        new Color(0x56, 0xb4, 0xe9),
        new Color(0xcc, 0x79, 0xa7),
        new Color(0x00, 0x00, 0x00),
        new Color(0xf0, 0xe4, 0x42)
    };

    private Pictures() {}

    /// Draws one curve; a place that was not measured is left out.
    static void draw(Curve curve, Results results, Path folder) throws IOException {
        Chart<?, ?> chart = curve.shape() == Curve.Shape.BARS ? bars(curve, results) : lines(curve, results);
        save(chart, folder.resolve(curve.name() + ".png"));
    }

    /// Writes a chart.
    public static void save(Chart<?, ?> chart, Path file) throws IOException {
        Files.createDirectories(file.getParent());
        try (OutputStream to = Files.newOutputStream(file)) {
            BitmapEncoder.saveBitmap(chart, to, BitmapFormat.PNG);
        }
    }

    /// An empty chart, as all of ours look.
    public static XYChart lines(String title, String axis, String unit) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(axis)
                .yAxisTitle(unit)
                .build();
        style(chart.getStyler());
        return chart;
    }

    private static XYChart lines(Curve curve, Results results) {
        XYChart chart = lines(curve.title(), curve.axis(), curve.unit());
        boolean byFactors = curve.shape() == Curve.Shape.LOGARITHMIC;
        chart.getStyler().setXAxisLogarithmic(byFactors).setYAxisLogarithmic(byFactors);
        if (!byFactors) {
            chart.getStyler().setYAxisMin(0.0);
        }
        for (Curve.Line line : curve.lines()) {
            double[] costs = costs(line, results);
            int[] there = there(costs);
            if (there.length > 0) {
                chart.addSeries(line.label(), picked(curve.places(), there), picked(costs, there))
                        .setMarker(SeriesMarkers.CIRCLE)
                        .setLineStyle(new BasicStroke(STROKE));
            }
        }
        return chart;
    }

    private static CategoryChart bars(Curve curve, Results results) {
        CategoryChart chart = new CategoryChartBuilder()
                .width(curve.lines().size() > COLUMN ? WIDTH + WIDTH / 4 : WIDTH)
                .height(HEIGHT)
                .title(curve.title())
                .xAxisTitle(curve.axis())
                .yAxisTitle(curve.unit())
                .build();
        // a bar by factors has to begin somewhere
        double least = curve.cases()
                .mapToDouble(results::median)
                .filter(cost -> !Double.isNaN(cost))
                .min()
                .orElse(1);
        chart.getStyler().setYAxisLogarithmic(true).setYAxisMin(Math.pow(10, Math.floor(Math.log10(least))));
        style(chart.getStyler());
        if (curve.lines().size() > COLUMN) {
            chart.getStyler().setLegendPosition(LegendPosition.OutsideE).setLegendLayout(LegendLayout.Vertical);
        }
        List<String> places =
                Arrays.stream(curve.places()).mapToObj(Scoreboard::number).toList();
        for (Curve.Line line : curve.lines()) {
            double[] costs = costs(line, results);
            if (there(costs).length == costs.length) {
                chart.addSeries(
                        line.label(), places, Arrays.stream(costs).boxed().toList());
            }
        }
        return chart;
    }

    private static void style(AxesChartStyler styler) {
        styler.setSeriesColors(COLOURS)
                .setChartBackgroundColor(Color.WHITE)
                .setLegendPosition(LegendPosition.OutsideS)
                .setLegendLayout(LegendLayout.Horizontal)
                .setLegendBorderColor(Color.WHITE)
                .setPlotBorderVisible(false);
    }

    private static double[] costs(Curve.Line line, Results results) {
        return line.cases().stream().mapToDouble(results::median).toArray();
    }

    private static int[] there(double[] costs) {
        return IntStream.range(0, costs.length)
                .filter(i -> !Double.isNaN(costs[i]))
                .toArray();
    }

    private static double[] picked(double[] all, int[] places) {
        return Arrays.stream(places).mapToDouble(i -> all[i]).toArray();
    }
}
