// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.pictures;

import java.util.List;
import java.util.Locale;

/// Groups of horizontal bars on one linear axis. A bar's length is how many times as long a rival takes as Bulla
/// does, and both numbers stand behind it. A bar longer than the axis is cut, visibly; its number is still right.
///
/// @param title above the picture
/// @param foot below it: what the multiples are of
/// @param groups from top to bottom
public record Bars(String title, String foot, List<Group> groups) {

    private static final int LABELS = 226;
    private static final int PLOT = 344;
    private static final int TOP = 34;
    private static final int ROW = 20;
    private static final int BAR = 14;
    private static final int HEAD = 28;
    private static final int FOOT = 44;
    private static final int MARGIN = 12;
    /// The longest axis: beyond it, differences near 1 could not be seen.
    private static final double MOST = 8;
    private static final double WHOLE = 10;
    private static final double HUNDREDTH = 0.01;

    /// Rivals beside Bulla.
    public Bars(String title, List<Group> groups) {
        this(title, "times what Bulla takes; the line at 1 is Bulla; shorter is faster", groups);
    }

    /// Bars that are multiples of the same time.
    ///
    /// @param head what was done, and what Bulla takes for it
    /// @param bars ours first
    public record Group(String head, List<Bar> bars) {}

    /// One design.
    ///
    /// @param label for the reader
    /// @param times as a multiple of what ours takes
    /// @param value what it takes, with its unit
    /// @param ours whether it is Bulla's
    public record Bar(String label, double times, String value, boolean ours) {}

    /// The picture's text.
    public String svg() {
        Svg svg = new Svg().text(MARGIN, 22, "title", "start", title);
        int height = TOP + FOOT;
        for (Group group : groups) {
            height += HEAD + ROW * group.bars().size();
        }
        double axis = axis();
        grid(svg, axis, height - FOOT);
        int y = TOP;
        for (Group group : groups) {
            svg.text(MARGIN, y + 18, "head", "start", group.head());
            y += HEAD;
            for (Bar bar : group.bars()) {
                draw(svg, bar, axis, y);
                y += ROW;
            }
        }
        svg.text(LABELS, height - 8, "faint", "start", foot);
        return svg.done(title, height);
    }

    private double axis() {
        double most = groups.stream()
                .flatMap(group -> group.bars().stream())
                .mapToDouble(Bar::times)
                .max()
                .orElse(1);
        return Math.clamp(Math.ceil(most), 2, MOST);
    }

    private void grid(Svg svg, double axis, int bottom) {
        for (int tick = 0; tick <= axis; tick++) {
            double x = LABELS + PLOT * tick / axis;
            svg.text(x, bottom + 17, "faint", "middle", tick + "×");
            int y = TOP;
            for (Group group : groups) {
                int end = y + HEAD + ROW * group.bars().size();
                svg.line(x, y + HEAD - 3, x, end, tick == 1 ? "one" : "grid");
                y = end;
            }
        }
    }

    private static void draw(Svg svg, Bar bar, double axis, int y) {
        boolean cut = bar.times() > axis;
        double length = PLOT * Math.min(bar.times(), axis) / axis;
        double right = LABELS + length;
        svg.text(LABELS - 8, y + 12, "", "end", bar.label());
        svg.box(LABELS, y, length, BAR, bar.ours() ? "ours" : "bar");
        if (cut) {
            svg.line(right - 22, y + BAR + 2, right - 14, y - 2, "cut");
            svg.line(right - 15, y + BAR + 2, right - 7, y - 2, "cut");
        }
        // not across the line at 1
        double at = Math.max(right, LABELS + PLOT / axis);
        svg.text(at + 6, y + 12, "", "start", times(bar.times()) + ", " + bar.value());
    }

    /// A multiple as a reader takes it in: two decimals below ten, whole above.
    static String times(double times) {
        if (times >= WHOLE || times == 1) {
            return String.format(Locale.ROOT, "%,.0f×", times);
        }
        return String.format(Locale.ROOT, times < HUNDREDTH ? "%.4f×" : "%.2f×", times);
    }
}
