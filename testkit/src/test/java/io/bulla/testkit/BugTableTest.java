// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Keeps `docs/ancestor-bugs.md` and the tests that it names in step.
class BugTableTest {

    private static final Pattern CLASS = Pattern.compile(
            "((?:^ *///.*\\n)*)((?:^ *@.*\\n)*)^( *)(?:public |final |static )*class (\\w+)", Pattern.MULTILINE);

    private record Row(String number, List<String> references, List<String> tests) {}

    @Test
    void everyBugOfTheAncestorHasARow() throws IOException {
        assertEquals(
                IntStream.rangeClosed(1, 18).mapToObj(Integer::toString).toList(),
                rows().stream()
                        .map(Row::number)
                        .filter(number -> number.matches("\\d+"))
                        .toList());
    }

    @Test
    void everyNamedTestExistsAndNamesItsBug() throws IOException {
        Map<String, String> docs = docsOfTestClasses();
        for (Row row : rows()) {
            for (String test : row.tests) {
                assertTrue(docs.containsKey(test), "no such test: " + test);
                for (String reference : row.references) {
                    assertTrue(docs.get(test).contains(reference), test + " does not name " + reference);
                }
            }
        }
    }

    @Test
    void everyTestOfABugStandsInTheTable() throws IOException {
        Set<String> named = rows().stream().flatMap(row -> row.tests.stream()).collect(Collectors.toSet());
        Set<String> missing = new TreeSet<>();
        docsOfTestClasses().forEach((test, doc) -> {
            if (doc.startsWith("BUG ") && !named.contains(test)) {
                missing.add(test);
            }
        });
        assertEquals(Set.of(), missing);
    }

    private static List<Row> rows() throws IOException {
        List<Row> rows = new ArrayList<>();
        for (String line : Repository.document("ancestor-bugs.md")) {
            String[] cells = line.split("\\|");
            if (cells.length == 6 && !cells[1].contains("---") && !cells[1].equals(" # ")) {
                List<String> tests = Pattern.compile("`([^`]+)`")
                        .matcher(cells[5])
                        .results()
                        .map(found -> found.group(1))
                        .toList();
                assertTrue(!tests.isEmpty() || cells[5].contains("with its issue"), line);
                rows.add(new Row(
                        cells[1].strip(),
                        Arrays.stream(cells[2].split(",")).map(String::strip).toList(),
                        tests));
            }
        }
        return rows;
    }

    /// The doc of each test class, `Outer` or `Outer.Nested`; those of old bugs begin with `BUG`.
    private static Map<String, String> docsOfTestClasses() throws IOException {
        Map<String, String> docs = new HashMap<>();
        for (Map.Entry<String, Path> source :
                Repository.sources(".*/src/test/java/.*Test\\.java").entrySet()) {
            String outer = source.getKey();
            boolean old = source.getValue().toString().matches(".*/testkit/(ancestor|peers)/.*");
            String text = Files.readString(source.getValue());
            boolean nests = text.contains("@Nested");
            for (MatchResult found : (Iterable<MatchResult>) CLASS.matcher(text).results()::iterator) {
                boolean nested = found.group(2).contains("@Nested");
                if (nested || found.group(4).equals(outer)) {
                    String name = nested ? outer + "." + found.group(4) : outer;
                    docs.put(name, (old && nested == nests ? "BUG " : "") + found.group(1));
                }
            }
        }
        return docs;
    }
}
