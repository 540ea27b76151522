// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.house;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// `docs/architecture.md` shows every module, and a reason for each package, file and knot that is too large.
///
/// `./check architecture --write` writes the table of modules anew. Reasons are written by hand.
class HouseTest {

    private static final Path ROOT = Path.of("../..");
    private static final Path PAGE = ROOT.resolve("docs/architecture.md");
    private static final String START = "<!-- modules -->";
    private static final String END = "<!-- end of modules -->";
    // | `knot pool` | 17 | the reason |
    private static final Pattern REASON =
            Pattern.compile("\\| `((?:package|file|knot) [^`]+)` \\| (\\d+) \\| (.+) \\|");
    // a file may grow by so many lines, and shrink, before its row is wrong
    private static final int LINES_OF_PLAY = 50;

    private static House house;
    private static String page;

    @BeforeAll
    static void read() throws IOException {
        house = House.of(ROOT);
        page = Files.readString(PAGE);
        if (Boolean.getBoolean("bulla.architecture.write")) {
            page = before() + "\n" + String.join("\n", house.table()) + "\n" + page.substring(page.indexOf(END));
            Files.writeString(PAGE, page);
        }
        house.table().forEach(System.out::println);
        System.out.println(house.line(missing().size()));
    }

    private static String before() {
        return page.substring(0, page.indexOf(START) + START.length());
    }

    private static Map<String, Integer> reasons() {
        Map<String, Integer> rows = new TreeMap<>();
        Matcher row = REASON.matcher(page);
        while (row.find()) {
            rows.put(row.group(1), Integer.valueOf(row.group(2)));
        }
        return rows;
    }

    private static List<String> missing() {
        List<String> found = new ArrayList<>();
        house.beyond().forEach((what, size) -> {
            if (!reasons().containsKey(what)) {
                found.add(what + " " + size);
            }
        });
        return found;
    }

    @Test
    void everyModuleOfTheBuildIsInTheTable() {
        String shown = page.substring(page.indexOf(START) + START.length(), page.indexOf(END));
        assertEquals(
                String.join("\n", house.table()), shown.strip(), "./check architecture --write writes the table anew");
    }

    /// An `ArrayDeque` that finds no heap to grow is empty afterwards, and all that waited in it is lost.
    @Test
    void noQueueOfTheModulesGrowsInAnArray() throws IOException {
        List<String> found = new ArrayList<>();
        for (String group : List.of(".", "native", "interop", "runtime")) {
            try (Stream<Path> modules = Files.list(ROOT.resolve(group))) {
                for (Path module : modules.toList()) {
                    Path sources = module.resolve("src/main/java");
                    if (Files.isDirectory(sources) && Files.exists(module.resolve("api.txt"))) {
                        addGrowing(sources, found);
                    }
                }
            }
        }
        assertEquals(List.of(), found, "give it its bound, or use a LinkedList");
    }

    private static void addGrowing(Path sources, List<String> found) throws IOException {
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                if (Files.readString(file).contains("new ArrayDeque<>()")) {
                    found.add(ROOT.relativize(file).toString());
                }
            }
        }
    }

    @Test
    void whatIsTooLargeHasARowWithAReason() {
        assertEquals(List.of(), missing(), "too large, and without a row in docs/architecture.md");
    }

    @Test
    void whatIsTooLargeDoesNotGrow() {
        house.beyond().forEach((what, size) -> {
            int row = reasons().getOrDefault(what, Integer.MAX_VALUE);
            assertTrue(size <= row, () -> "it has grown: " + what + " was=" + row + " is=" + size);
        });
    }

    @Test
    void figureReachedIsKept() {
        reasons().forEach((what, row) -> {
            int size = house.beyond().getOrDefault(what, 0);
            int play = what.startsWith("file ") && size > 0 ? LINES_OF_PLAY : 0;
            assertTrue(
                    row <= size + play,
                    () -> "it has shrunk, lower its row or remove it: " + what + " row=" + row + " is=" + size);
        });
    }

    @Test
    void knotsOfTheLibrariesAreLookedAt() {
        List<String> notLookedAt = house.modules().stream()
                .filter(each -> each.knots() == null)
                .map(House.Module::folder)
                .toList();
        assertEquals(List.of("checks/mutants", "checks/scenes", "fuzz", "stress", "bench", "tools"), notLookedAt);
    }
}
