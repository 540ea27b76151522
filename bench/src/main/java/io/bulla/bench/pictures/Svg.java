// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.pictures;

import java.util.Locale;

/// The text of one SVG picture, drawn from top to bottom. The same calls give the same text, so a picture can be
/// compared with the numbers that it was drawn from. Colours follow the reader's light or dark mode.
final class Svg {

    static final int WIDTH = 720;

    private static final String STYLE = """
            <style>
            text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#222}
            .title{font-size:15px;font-weight:600}.head{font-weight:600}.faint{fill:#666;font-size:12px}
            .paper{fill:#fff}.grid{stroke:#ddd}.one{stroke:#444}.cut{stroke:#fff;stroke-width:3}
            .bar{fill:#a8adb3}.ours{fill:#0072b2}
            polyline{fill:none;stroke-width:2}
            .c0{stroke:#0072b2}.c1{stroke:#d55e00}.c2{stroke:#009e73}.c3{stroke:#777}.c4{stroke:#cc79a7}.c5{stroke:#b58900}
            @media (prefers-color-scheme:dark){
            text{fill:#e4e4e4}.faint{fill:#a0a0a0}.paper{fill:#1b1d20}.grid{stroke:#3a3d41}.one{stroke:#ccc}.cut{stroke:#1b1d20}
            .bar{fill:#7b8087}.ours{fill:#4aa8e0}.c0{stroke:#4aa8e0}.c3{stroke:#aaa}.c5{stroke:#e6c14a}}
            </style>
            """;

    private final StringBuilder body = new StringBuilder();

    Svg text(double x, double y, String style, String anchor, String text) {
        body.append(String.format(
                Locale.ROOT,
                "<text x=\"%.0f\" y=\"%.0f\" class=\"%s\" text-anchor=\"%s\">%s</text>%n",
                x,
                y,
                style,
                anchor,
                escaped(text)));
        return this;
    }

    Svg box(double x, double y, double width, double height, String style) {
        body.append(String.format(
                Locale.ROOT,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"/>%n",
                x,
                y,
                width,
                height,
                style));
        return this;
    }

    Svg line(double x1, double y1, double x2, double y2, String style) {
        body.append(String.format(
                Locale.ROOT,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>%n",
                x1,
                y1,
                x2,
                y2,
                style));
        return this;
    }

    Svg path(double[] xs, double[] ys, String style) {
        StringBuilder points = new StringBuilder();
        for (int i = 0; i < xs.length; i++) {
            points.append(String.format(Locale.ROOT, i == 0 ? "%.1f,%.1f" : " %.1f,%.1f", xs[i], ys[i]));
        }
        body.append("<polyline points=\"")
                .append(points)
                .append("\" class=\"")
                .append(style)
                .append("\"/>\n");
        return this;
    }

    /// The whole picture.
    ///
    /// @param title what a reader who cannot see it is told
    String done(String title, int height) {
        return String.format(
                        Locale.ROOT,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">%n",
                        WIDTH,
                        height,
                        WIDTH,
                        height)
                + "<title>" + escaped(title) + "</title>\n" + STYLE
                + String.format("<rect width=\"%d\" height=\"%d\" class=\"paper\"/>%n", WIDTH, height)
                + body + "</svg>\n";
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
