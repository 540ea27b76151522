// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.bulla.bench.numbers.Medians;
import io.bulla.bench.pictures.Lines;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What a soak has seen.
///
/// @param machine where, with what, of which commit
/// @param samples in order
public record SoakRecord(String machine, List<SoakSample> samples) {

    /// Above the picture.
    public static final String TITLE = "What a process under full load holds, as a multiple of what it held at first";

    private static final double SECONDS_PER_MINUTE = 60;

    /// Something that must not grow: the median of the last third of the samples may be so many times that of the
    /// first third. What is open only from send to acknowledgement goes up and down with the load.
    private enum Held {
        RSS("resident memory", 1.1, SoakSample::residentBytes),
        DESCRIPTORS("descriptors", 1, SoakSample::descriptors),
        THREADS("threads", 1.05, SoakSample::threads),
        HANDLES("handles", 1.25, SoakSample::handles),
        SOURCE("the source's memory", 1.25, SoakSample::sourceBytes),
        HEAP("heap after a collection", 1.1, SoakSample::heapBytes);

        private final String label;
        private final double most;
        private final ToLongFunction<SoakSample> of;

        Held(String label, double most, ToLongFunction<SoakSample> of) {
            this.label = label;
            this.most = most;
            this.of = of;
        }

        private double[] all(List<SoakSample> some) {
            return some.stream().mapToDouble(of::applyAsLong).toArray();
        }
    }

    boolean isFlat() {
        return List.of(Held.values()).stream().allMatch(held -> last(held) <= held.most * first(held));
    }

    /// Each with the medians of the first third and of the last.
    String line() {
        return "soak: "
                + List.of(Held.values()).stream()
                        .map(held -> String.format(
                                Locale.ROOT,
                                "%s=%.0f/%.0f",
                                held.name().toLowerCase(Locale.ROOT),
                                first(held),
                                last(held)))
                        .collect(Collectors.joining(" "));
    }

    private double first(Held held) {
        return Medians.of(held.all(samples.subList(0, third())));
    }

    private double last(Held held) {
        return Medians.of(held.all(samples.subList(samples.size() - third(), samples.size())));
    }

    private int third() {
        return Math.max(1, samples.size() / 3);
    }

    /// @throws IOException if the file is not there, or is no record
    public static SoakRecord read(Path file) throws IOException {
        return new ObjectMapper().readValue(file.toFile(), SoakRecord.class);
    }

    void write(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(
                file,
                new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(this) + "\n");
    }

    /// A picture: each as a multiple of its median in the first third, so that all are seen on one axis.
    public String svg() {
        double[] minutes = samples.stream()
                .mapToDouble(sample -> sample.seconds() / SECONDS_PER_MINUTE)
                .toArray();
        List<Lines.Line> lines = Stream.of(Held.values())
                .map(held -> new Lines.Line(held.label, minutes, multiples(held)))
                .toList();
        return new Lines(TITLE, "minutes", "times", lines).svg();
    }

    private double[] multiples(Held held) {
        double first = first(held);
        return Arrays.stream(held.all(samples)).map(each -> each / first).toArray();
    }
}
