// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.pages;

import io.bulla.bench.fanout.Transport;
import io.bulla.bench.goals.Case;
import io.bulla.bench.goals.FanOutCases;
import io.bulla.bench.goals.Goal;
import io.bulla.bench.goals.Results;
import io.bulla.bench.numbers.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A fan-out beside its rivals, for each number of peers and each size.
///
/// @param name short, as in the printed lines
/// @param title above the table
/// @param sight one sentence: what to see in the picture
/// @param ours what Bulla does
/// @param rivals what it is held against
public record FanOutMatrix(String name, String title, String sight, Design ours, List<Design> rivals) {

    private static final int[] PEERS = {1, 8, 64};
    private static final int[] SIZES = {64, 1 << 10, 1 << 14, 1 << 18, 1 << 22};
    /// The sizes between them are in the tables.
    private static final int[] DRAWN = {1 << 10, 1 << 18, 1 << 22};
    private static final int MOST_PEERS = 64;

    /// A way to do it, over a transport.
    record Design(Transport transport, String name) {

        Case at(int peers, int bytes) {
            return FanOutCases.of(transport, name, peers, bytes);
        }

        String label(Transport home) {
            return transport == home ? name : transport.name().toLowerCase(Locale.ROOT) + "." + name;
        }
    }

    public static List<FanOutMatrix> all() {
        Design kernel = new Design(Transport.UNIX, "kernel");
        Design shares = new Design(Transport.UNIX, "shares");
        Design pooled = new Design(Transport.UNIX, "pooled");
        Design malloc = new Design(Transport.UNIX, "malloc");
        Design repack = new Design(Transport.UNIX, "repack");
        Design heap = new Design(Transport.NIO, "heap");
        Design strings = new Design(Transport.NIO, "byte-string");
        Design string = new Design(Transport.NIO, "byte-string-shared");
        Design aeron = new Design(Transport.AERON, "offer");
        return List.of(
                new FanOutMatrix(
                        "unix",
                        "Unix sockets",
                        "Bulla is level with the bare kernel at every size; from 256 KiB on, every copy costs more, and only"
                                + " Aeron, which does not enter the kernel, is faster.",
                        shares,
                        List.of(kernel, pooled, malloc, repack, heap, strings, string, aeron)),
                netty(
                        Transport.TCP,
                        "tcp",
                        "TCP, Netty over the loopback",
                        "All bars lie near 1 for 1 KiB; copies cost a little more from 256 KiB on, and Netty's own shares cost"
                                + " the same as Bulla's.",
                        "repack",
                        "copy-unpooled"),
                netty(
                        Transport.TLS,
                        "tls",
                        "TLS 1.3 of the JDK, Netty over the loopback",
                        "All bars lie near 1 at every size: encryption takes so long that a copy hardly shows."),
                descriptor(
                        "descriptor",
                        "until it is mapped",
                        "A descriptor loses to a socket for small messages, is level at 256 KiB and wins by far at 4 MiB.",
                        "",
                        List.of(shares, pooled, malloc, aeron)),
                descriptor(
                        "descriptor-touched",
                        "until every page was read",
                        "A peer that reads every page pays for page faults, so the descriptor is only level with shares over a"
                                + " socket at 4 MiB.",
                        "-touched",
                        List.of(shares, pooled, malloc, aeron)),
                new FanOutMatrix(
                        "aeron",
                        "Aeron IPC: one publication, a subscription for each peer",
                        "The bars are nearly alike at every size: a sealed buffer adds a few per cent to Aeron's own offer.",
                        new Design(Transport.AERON, "sealed-offer"),
                        List.of(aeron)));
    }

    private static FanOutMatrix netty(Transport transport, String name, String title, String sight, String... more) {
        List<Design> rivals = Stream.concat(
                        Stream.of("retained-duplicate", "copy-pooled", "copy-adaptive", "copy-heap"),
                        Arrays.stream(more))
                .map(each -> new Design(transport, each))
                .toList();
        return new FanOutMatrix(name, title, sight, new Design(transport, "shares"), rivals);
    }

    private static FanOutMatrix descriptor(
            String name, String until, String sight, String suffix, List<Design> others) {
        List<Design> rivals = new ArrayList<>(List.of(new Design(Transport.DESCRIPTOR, "memfd-per-send" + suffix)));
        rivals.addAll(others);
        return new FanOutMatrix(
                name,
                "A descriptor of sealed memory, " + until,
                sight,
                new Design(Transport.DESCRIPTOR, "seal" + suffix),
                rivals);
    }

    public Stream<Case> cases() {
        return Stream.concat(Stream.of(ours), rivals.stream())
                .flatMap(design -> Arrays.stream(SIZES)
                        .boxed()
                        .flatMap(size -> Arrays.stream(PEERS).mapToObj(peers -> design.at(peers, size))));
    }

    /// A line for each cell and rival.
    public Stream<String> lines(Results results) {
        List<String> lines = new ArrayList<>();
        for (int size : SIZES) {
            for (int peers : PEERS) {
                for (Design rival : rivals) {
                    Goal goal = Goal.compare(name, ours.at(peers, size), rival.at(peers, size));
                    lines.add(String.format(
                            Locale.ROOT,
                            "fan-out transport=%s peers=%d bytes=%d ours=%s:%.4gns rival=%s:%.4gns ratio=%.3f",
                            name,
                            peers,
                            size,
                            ours.label(ours.transport()),
                            results.median(goal.ours()),
                            rival.label(ours.transport()),
                            results.median(goal.rival()),
                            goal.ratio(results)));
                }
            }
        }
        return lines.stream();
    }

    /// Cells with the most peers, as bars.
    Curve bars() {
        double[] places = Arrays.stream(DRAWN).asDoubleStream().toArray();
        return new Curve(
                "fan-out-" + name,
                title + ", " + MOST_PEERS + " peers",
                sight,
                "bytes of the message",
                "ns",
                Curve.Shape.RATIOS,
                places,
                Stream.concat(Stream.of(ours), rivals.stream())
                        .map(design -> new Curve.Line(
                                (design.equals(ours) ? "Bulla: " : "") + design.label(ours.transport()),
                                Arrays.stream(DRAWN)
                                        .mapToObj(size -> design.at(MOST_PEERS, size))
                                        .toList()))
                        .toList());
    }

    /// Above the rows of [#ratios].
    static List<String> ratiosHead() {
        String sizes = Arrays.stream(SIZES)
                .mapToObj(size -> Units.place(size) + (size < 1 << 10 ? " B" : "B"))
                .collect(Collectors.joining(" | "));
        return List.of("| " + MOST_PEERS + " peers | " + sizes + " |", "|---|" + "---|".repeat(SIZES.length));
    }

    /// A row for each rival: the ratios with the most peers, by size.
    Stream<String> ratios(Results results) {
        return rivals.stream().map(rival -> {
            StringBuilder row = new StringBuilder("| ")
                    .append(title)
                    .append(": `")
                    .append(ours.label(ours.transport()))
                    .append("` against `")
                    .append(rival.label(ours.transport()))
                    .append("` |");
            for (int size : SIZES) {
                Goal goal = Goal.compare(name, ours.at(MOST_PEERS, size), rival.at(MOST_PEERS, size));
                row.append(' ').append(Units.rounded(goal.ratio(results))).append(" |");
            }
            return row.toString();
        });
    }

    /// A section of the scoreboard: what ours takes, and its ratio to each rival.
    String page(Results results) {
        StringBuilder page = new StringBuilder("| peers | bytes | ours |");
        rivals.forEach(rival ->
                page.append(" / ").append(rival.label(ours.transport())).append(" |"));
        page.append("\n|---|---|---|").append("---|".repeat(rivals.size())).append('\n');
        for (int size : SIZES) {
            for (int peers : PEERS) {
                Case mine = ours.at(peers, size);
                page.append("| ")
                        .append(peers)
                        .append(" | ")
                        .append(Units.place(size))
                        .append(" | ");
                page.append(Drawing.value(mine, results)).append(" |");
                for (Design rival : rivals) {
                    double ratio =
                            Goal.compare(name, mine, rival.at(peers, size)).ratio(results);
                    page.append(' ').append(Units.rounded(ratio)).append(" |");
                }
                page.append('\n');
            }
        }
        return page.append('\n').toString();
    }
}
