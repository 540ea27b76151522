// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Keeps docs/failure.md in step with the tests that it names.
class FailureTableTest {

    private static final Pattern TEST = Pattern.compile("`([A-Z]\\w*Test)(?:\\.(\\w+))?`");
    private static final String SCRIPT = "`ci/";

    @Test
    void everyRowNamesATestThatExists() throws IOException {
        Map<String, Path> sources = Repository.sources(".*/src/test/java/.*Test\\.java");
        List<String> wrong = new ArrayList<>();
        for (String row : rows()) {
            String shown = lastCell(row);
            List<MatchResult> tests = TEST.matcher(shown).results().toList();
            if (tests.isEmpty() && !shown.contains(SCRIPT)) {
                wrong.add("no test: " + row);
            }
            for (MatchResult test : tests) {
                if (!exists(sources.get(test.group(1)), test.group(2))) {
                    wrong.add("no such test: " + test.group());
                }
            }
        }
        assertEquals(List.of(), wrong);
    }

    @Test
    void everyLineOfTheIssueHasARow() throws IOException {
        assertEquals(
                IntStream.rangeClosed(1, 23).mapToObj(Integer::toString).toList(),
                rows().stream()
                        .map(row -> row.split("\\|")[1].strip())
                        .filter(cell -> cell.matches("\\d+"))
                        .toList());
    }

    private static List<String> rows() throws IOException {
        return Repository.document("failure.md").stream()
                .filter(line -> line.startsWith("| ") && !lastCell(line).equals("test"))
                .toList();
    }

    private static boolean exists(Path source, String method) throws IOException {
        return source != null
                && (method == null || Files.readString(source).matches("(?s).*\\bvoid " + method + "\\(.*"));
    }

    private static String lastCell(String row) {
        String[] cells = row.split("\\|");
        return cells[cells.length - 1].strip();
    }
}
