// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.house;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// A program in a document, or in the Javadoc of a source: a block of `java`, and beneath it a block of `text`, which
/// is what it prints. Flags of the JVM stand in its first line.
record Sample(String document, int line, List<String> flags, String program, String output) {

    private static final String FLAGS = "// flags: ";
    private static final String DOC = "///";
    private static final Pattern PUBLIC = Pattern.compile("^public (?:final )?class (\\w+)", Pattern.MULTILINE);

    /// @throws IllegalArgumentException if what a program prints does not stand beneath it
    static List<Sample> of(String document, String text) {
        return of(document, text, false);
    }

    private static List<Sample> of(String document, String text, boolean hasFragments) {
        List<String> lines = text.lines().toList();
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).equals("```java")) {
                int start = i;
                int end = endOf(lines, start);
                if (hasFragments && lines.subList(start, end).stream().noneMatch(line -> line.contains("void main("))) {
                    i = end;
                    continue;
                }
                int printed = end + 1;
                while (printed < lines.size() && lines.get(printed).isBlank()) {
                    printed++;
                }
                if (printed == lines.size() || !lines.get(printed).equals("```text")) {
                    throw new IllegalArgumentException(
                            "no ```text beneath the program: document=" + document + " line=" + (start + 1));
                }
                i = endOf(lines, printed);
                samples.add(of(document, start + 1, lines.subList(start + 1, end), lines.subList(printed + 1, i)));
            }
        }
        return samples;
    }

    /// The programs in the Javadoc of a source, at the source's lines. A block without a `main` is a fragment: it
    /// shows a call, and is not run.
    static List<Sample> ofJavadoc(String document, String source) {
        return of(document, source.lines().map(Sample::documentation).collect(Collectors.joining("\n")), true);
    }

    private static String documentation(String line) {
        String stripped = line.strip();
        return stripped.startsWith(DOC) ? stripped.substring(DOC.length()).replaceFirst("^ ", "") : "";
    }

    private static Sample of(String document, int line, List<String> program, List<String> output) {
        List<String> flags = program.getFirst().startsWith(FLAGS)
                ? List.of(program.getFirst().substring(FLAGS.length()).split(" "))
                : List.of();
        return new Sample(document, line, flags, joined(program), joined(output));
    }

    /// What a file of the program is called: as its class, if that is public.
    String fileName() {
        Matcher name = PUBLIC.matcher(program);
        return (name.find() ? name.group(1) : "Sample") + ".java";
    }

    private static int endOf(List<String> lines, int start) {
        int end = start + 1;
        while (!lines.get(end).equals("```")) {
            end++;
        }
        return end;
    }

    private static String joined(List<String> lines) {
        return String.join("\n", lines) + "\n";
    }

    @Override
    public String toString() {
        return document + ":" + line;
    }
}
