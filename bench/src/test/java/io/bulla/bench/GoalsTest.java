// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.bench.pages.Scoreboard;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GoalsTest {

    @Test
    @DisplayName("The pages and the pictures say what bench/results says")
    void pagesSayWhatWasMeasured() throws IOException {
        assertEquals(List.of(), Goals.scoreboard(Path.of("..")).stale(), "./bench/run --redraw puts them right");
    }

    @Test
    @DisplayName("Each goal that is missed has its floor, and no other")
    void missedGoalsHaveTheirFloor() throws IOException {
        assertEquals(List.of(), Goals.scoreboard(Path.of("..")).withoutFloor(), "bench/floors.tsv");
    }

    @Test
    @DisplayName("A picture that no goal draws is deleted, one that was not drawn stays")
    void picturesThatWereNotDrawnStay(@TempDir Path root) throws IOException {
        Path pictures = Files.createDirectories(root.resolve("docs/pictures"));
        Files.createDirectories(root.resolve("docs/performance"));
        Files.writeString(root.resolve("README.md"), "# No figures\n", UTF_8);
        Files.writeString(root.resolve("docs/performance.md"), "# No figures\n", UTF_8);
        Path old = Files.writeString(pictures.resolve("old.svg"), "<svg/>", UTF_8);
        Path photographed = Files.writeString(pictures.resolve("page.png"), "a browser's", UTF_8);
        Scoreboard scoreboard = Goals.scoreboard(root);
        assertTrue(scoreboard.stale().contains(Path.of("docs/pictures/old.svg")));
        assertFalse(scoreboard.stale().contains(Path.of("docs/pictures/page.png")));
        scoreboard.write();
        assertFalse(Files.exists(old));
        assertTrue(Files.exists(photographed));
        assertEquals(List.of(), scoreboard.stale());
    }
}
