// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.house;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// The list of files to read first, `docs/reading.md`, against the files.
class ReadingTest {

    private static final Path PAGE = Path.of("..", "..", "docs", "reading.md");
    private static final Pattern ROW =
            Pattern.compile("^\\| (\\d+) \\| \\[[^\\]]+]\\(([^)]+)\\) \\| ([^|]+) \\|$", Pattern.MULTILINE);

    private record Row(int number, Path file, String question) {}

    private static List<Row> rows;

    @BeforeAll
    static void readPage() throws IOException {
        rows = ROW.matcher(Files.readString(PAGE))
                .results()
                .map(row -> new Row(Integer.parseInt(row.group(1)), PAGE.resolveSibling(row.group(2)), row.group(3)))
                .toList();
    }

    @Test
    void twelveFilesStandInTheirOrderEachWithAQuestion() {
        assertEquals(
                IntStream.rangeClosed(1, 12).boxed().toList(),
                rows.stream().map(Row::number).toList());
        rows.forEach(row -> assertTrue(row.question().endsWith("?"), row::toString));
        assertEquals(12, rows.stream().map(Row::file).distinct().count());
    }

    @Test
    void eachFileIsThereAndCanBeReadInOneGo() throws IOException {
        List<String> wrong = new ArrayList<>();
        for (Row row : rows) {
            if (!Files.isRegularFile(row.file())) {
                wrong.add("no such file: " + row);
            } else if (Files.readAllLines(row.file()).size() >= House.MOST_LINES) {
                wrong.add("too long to be read first: " + row);
            }
        }
        assertEquals(List.of(), wrong);
    }
}
