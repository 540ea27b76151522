// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Keeps the tables that say which test shows what in step with the tests.
class ProofTableTest {

    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern TEST = Pattern.compile("([A-Z]\\w*(?:Test|Contract))(?:\\.(\\w+))?");
    private static final String NO_TEST = "no test";

    @Test
    void everyRequirementOfAMessageLayerHasARow() throws IOException {
        List<String> rows = Repository.document("oob.md").stream()
                .filter(line -> line.startsWith("| R"))
                .toList();
        assertEquals(
                IntStream.rangeClosed(1, 24).mapToObj(number -> "R" + number).toList(),
                rows.stream().map(row -> row.split("\\|")[1].strip()).toList());
        for (String row : rows) {
            String shown = lastCell(row);
            assertTrue(TEST.matcher(shown).find() || shown.contains(NO_TEST), row);
        }
    }

    /// In a column of tests a name in small letters is a method of the class before it, in the cell or in the
    /// column's head.
    @ParameterizedTest
    @ValueSource(strings = {"oob.md", "security.md", "wire-format.md", "registration.md", "checkpoint.md"})
    void everyNamedTestExists(String document) throws IOException {
        Map<String, Path> sources = Repository.sources(".*/src/test/java/.*\\.java");
        List<String> wrong = new ArrayList<>();
        String head = null;
        boolean column = false;
        for (String line : Repository.document(document)) {
            boolean row = line.startsWith("|");
            if (!row) {
                head = null;
                column = false;
            } else if (!column && lastCell(line).matches("(shown by|test .*)")) {
                column = true;
                head = classIn(lastCell(line));
            }
            look(sources, line, null, false, wrong);
            if (column) {
                look(sources, lastCell(line), head, true, wrong);
            }
        }
        assertEquals(List.of(), wrong);
    }

    private static void look(Map<String, Path> sources, String text, String head, boolean small, List<String> wrong)
            throws IOException {
        String current = head;
        for (String name : (Iterable<String>) CODE.matcher(text).results().map(found -> found.group(1))::iterator) {
            var test = TEST.matcher(name);
            if (test.matches()) {
                current = test.group(1);
                if (!sources.containsKey(current)) {
                    wrong.add("no such class: " + name);
                } else if (test.group(2) != null) {
                    claim(sources, current, test.group(2), wrong);
                }
            } else if (small && name.matches("[a-z]\\w+")) {
                claim(sources, current, name, wrong);
            }
        }
    }

    private static void claim(Map<String, Path> sources, String test, String member, List<String> wrong)
            throws IOException {
        Pattern declared = Pattern.compile("\\b(?:void " + member + "\\(|class " + member + "\\b)");
        if (!sources.containsKey(test)
                || !declared.matcher(Files.readString(sources.get(test))).find()) {
            wrong.add("no such test: " + test + "." + member);
        }
    }

    private static String classIn(String cell) {
        var test = TEST.matcher(cell);
        return test.find() ? test.group(1) : null;
    }

    private static String lastCell(String row) {
        String[] cells = row.split("\\|");
        return cells.length == 0 ? "" : cells[cells.length - 1].strip();
    }
}
