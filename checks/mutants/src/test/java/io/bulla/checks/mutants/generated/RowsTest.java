// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.mutants.generated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.checks.mutants.generated.Change.Outcome;
import io.bulla.checks.mutants.generated.Change.Place;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The definitions of `./check mutants-generated` against the sources. Whether a change lives is for that check.
class RowsTest {

    private static final Path ROOT = root();

    @TempDir
    private Path folder;

    @Test
    void classesAndTestsAreThere() throws IOException {
        for (Target target : Target.all(ROOT)) {
            assertFalse(target.changed(ROOT).isEmpty(), target::module);
            assertFalse(target.looking(ROOT).isEmpty(), target::module);
            assertTrue(target.changed(ROOT).containsAll(target.argued(ROOT)), target::module);
        }
    }

    @Test
    void everyRowIsOfALineOfAClassThatNeedsRows() throws IOException {
        var wrong = new ArrayList<String>();
        for (Target target : Target.all(ROOT)) {
            List<String> types = target.argued(ROOT);
            for (Place place : Rows.read(target.rows(ROOT)).places()) {
                String simple = place.type().replaceFirst("\\$.*", "");
                String type = types.stream()
                        .filter(each -> each.endsWith("." + simple))
                        .findFirst()
                        .orElse("");
                Path source = ROOT.resolve(target.module())
                        .resolve("src/main/java")
                        .resolve(type.replace('.', '/') + ".java");
                if (type.isEmpty()
                        || Files.readAllLines(source).stream()
                                .noneMatch(line -> line.strip().equals(place.line()))) {
                    wrong.add(target.module() + ": " + place);
                }
            }
        }
        assertEquals(List.of(), wrong);
    }

    private static Change change(String line, Outcome outcome) {
        return new Change(new Place("Thing", "go", "Math", line), "a.Thing", "a.Thing", "go", outcome, "said");
    }

    @Test
    void rowNeedsAChangeThatLives() throws IOException {
        Path file = Files.writeString(
                folder.resolve("rows.tsv"),
                "# head\nThing\tgo\tMath\tx++;\tno reader\nThing\tgo\tMath\ty++;\tby chance: a race\n");
        Rows rows = Rows.read(file);
        assertTrue(rows.isArgued(change("x++;", Outcome.SURVIVED)));
        assertFalse(rows.isArgued(change("z++;", Outcome.SURVIVED)));
        var living = List.of(change("x++;", Outcome.SURVIVED), change("y++;", Outcome.KILLED));
        assertEquals(List.of(), rows.stale(living, null));
        var killed = List.of(change("x++;", Outcome.KILLED), change("y++;", Outcome.SURVIVED));
        assertEquals(List.of("killed: Thing\tgo\tMath\tx++;"), rows.stale(killed, Set.of("Thing")));
        assertEquals(List.of(), rows.stale(killed, Set.of("Other")));
        assertEquals(2, rows.stale(List.of(), null).size());
    }

    private static Change change(String top, int line, Outcome outcome) {
        return new Change(new Place(top, "go", "Math", "x" + line), "a." + top, "a." + top, "go", outcome, "said");
    }

    private static Target target(int goal, Set<String> withRows) {
        return new Target("m", Set.of("*"), Set.of(), List.of(), List.of(), Set.of("*"), Set.of(), goal, withRows);
    }

    @Test
    void goalIsOfTheClassesThatNeedNoRows() throws IOException {
        Path file = Files.writeString(folder.resolve("part.tsv"), "Held\tgo\tMath\tx1\tno reader\n");
        Rows rows = Rows.read(file);
        Change argued = change("Held", 1, Outcome.SURVIVED);
        Change without = change("Held", 2, Outcome.SURVIVED);
        Change other = change("Other", 1, Outcome.SURVIVED);
        var half = new ArrayList<>(List.of(argued, without, other, change("Other", 2, Outcome.KILLED)));
        for (int line = 3; line < 9; line++) {
            half.add(change("Held", line, Outcome.KILLED));
        }
        Target fifty = target(50, Set.of("Held"));
        assertEquals(List.of(without), rows.open(fifty, half, true));
        // what is killed of the class with rows is no help to the others
        Target sixty = target(60, Set.of("Held"));
        assertEquals(List.of(without, other), rows.open(sixty, half, true));
        assertEquals(List.of(without), rows.open(sixty, half, false), "of a part more may live");
        assertEquals(List.of(without, other), rows.open(target(Target.ALL, Set.of()), half, false));
        assertEquals(List.of(), rows.open(target(60, Set.of()), half, true), "eight of ten");
    }

    @Test
    void rowHasAReasonAndStandsOnce() throws IOException {
        Path without = Files.writeString(folder.resolve("without.tsv"), "Thing\tgo\tMath\tx++;\t\n");
        assertThrows(IllegalStateException.class, () -> Rows.read(without));
        Path twice =
                Files.writeString(folder.resolve("twice.tsv"), "Thing\tgo\tMath\tx++;\ta\nThing\tgo\tMath\tx++;\tb\n");
        assertThrows(IllegalStateException.class, () -> Rows.read(twice));
    }

    @Test
    void onlyWhatATestSawIsKilledAtTheFirstLook() {
        for (Outcome each : Outcome.values()) {
            boolean late = each == Outcome.TIMED_OUT || each == Outcome.MEMORY_ERROR || each == Outcome.RUN_ERROR;
            assertFalse(late && each.isKilled(), each::toString);
            assertEquals(late, each.isDoubtful() && each.hasRun(), each::toString);
        }
    }

    @Test
    void sameValueInPlaceOfAValueIsNoChange() {
        assertTrue(Change.changesNothing("BooleanFalseReturnVals", "return false;"));
        assertTrue(Change.changesNothing("BooleanTrueReturnVals", "return true;"));
        assertTrue(Change.changesNothing("NullReturnVals", "return null;"));
        assertFalse(Change.changesNothing("BooleanTrueReturnVals", "return false;"));
        assertFalse(Change.changesNothing("BooleanFalseReturnVals", "return true;"));
        assertFalse(Change.changesNothing("BooleanFalseReturnVals", "return size > 0;"));
        assertFalse(Change.changesNothing("Math", "return false;"));
    }

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        while (here != null && !Files.exists(here.resolve("docs/memory-model.md"))) {
            here = here.getParent();
        }
        assertTrue(here != null, "no docs/memory-model.md above the working directory");
        return here;
    }
}
