// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SiteTest {

    @TempDir
    private Path folder;

    private Path root;
    private Path out;

    @BeforeEach
    void project() throws IOException {
        root = Files.createDirectories(folder.resolve("root"));
        out = folder.resolve("out");
        write(
                root.resolve("README.md"),
                "# Home\n[one](docs/getting-started.md#a-place-for-x_1)\n[code](m/src/main/java/p/T.java)\n");
        write(root.resolve("CHANGELOG.md"), "# Changes & more\n[results](m/src/results)\n");
        write(root.resolve("CONTRIBUTING.md"), "# Help\n[other](https://example.org/x#y)\n");
        write(
                root.resolve("docs/getting-started.md"),
                "# One\n## A place, for `x_1`\n| a | b |\n|---|---|\n| c | ![p](p.svg) |\n");
        write(
                root.resolve("docs/adr/two.md"),
                "# Two\n[home](../../README.md) [test](../../m/src/test/java/p/U.java)\n");
        write(root.resolve("docs/p.svg"), "<svg/>");
        write(root.resolve("m/src/main/java/p/T.java"), "");
        write(root.resolve("m/src/test/java/p/U.java"), "class U {}");
        write(root.resolve("m/src/results/raw.csv"), "1,2");
        write(out.resolve("api/index.html"), "");
        write(out.resolve("api/p/T.html"), "");
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    /// In a JVM of its own, for the exit code.
    private List<String> made(int exit) throws IOException, InterruptedException {
        Path said = folder.resolve("said");
        Process site = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Site.class.getName(),
                        root.toString(),
                        out.toString())
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        assertTrue(site.waitFor(60, TimeUnit.SECONDS));
        assertEquals(exit, site.exitValue(), () -> said.toString());
        return Files.readAllLines(said);
    }

    @Test
    void documentsBecomePagesThatLeadToEachOtherAndToTheApi() throws IOException, InterruptedException {
        assertEquals(List.of("site: pages=5 sections=6 links=61 external=1 broken=0"), made(0));
        String home = Files.readString(out.resolve("index.html"));
        assertTrue(home.contains("<a href=\"docs/getting-started.html#a-place-for-x_1\">one</a>"), home);
        assertTrue(home.contains("<a href=\"api/p/T.html\">code</a>"), home);
        assertTrue(home.contains("<a href=\"CHANGELOG.html\">Changes &amp; more</a>"), home);
        String one = Files.readString(out.resolve("docs/getting-started.html"));
        assertTrue(one.contains("<td>c</td>"), one);
        assertTrue(Files.exists(out.resolve("docs/p.svg")));
        String changes = Files.readString(out.resolve("CHANGELOG.html"));
        assertTrue(changes.contains("<a href=\"m/src/results/index.html\">results</a>"), changes);
        assertTrue(Files.readString(out.resolve("m/src/results/index.html")).contains("href=\"raw.csv\""));
        assertEquals("1,2", Files.readString(out.resolve("m/src/results/raw.csv")));
        assertEquals("class U {}", Files.readString(out.resolve("m/src/test/java/p/U.java")));
    }

    @Test
    void everySectionCanBeFoundAtItsPlace() throws IOException, InterruptedException {
        made(0);
        List<String> rows = Files.readAllLines(out.resolve("search-index.js"));
        assertTrue(
                rows.contains(
                        "[\"One\",\"A place, for x_1\",\"docs/getting-started.html#a-place-for-x_1\",\"a b c\"],"),
                rows::toString);
        for (String script : List.of("search-index.js", "search.js", "highlight.js")) {
            assertTrue(Files.readString(out.resolve("docs/adr/two.html")).contains("src=\"../../" + script + "\""));
            assertTrue(Files.size(out.resolve(script)) > 0);
        }
    }

    @Test
    void pagesStandInGroups() throws IOException, InterruptedException {
        write(root.resolve("docs/new.md"), "# New\n");
        made(0);
        String two = Files.readString(out.resolve("docs/adr/two.html"));
        List<String> sidebar = two.lines()
                .filter(line -> line.startsWith("<h2>") || line.startsWith("<a ") && !line.contains("brand"))
                .map(line -> line.replaceAll("<[^>]*>", ""))
                .toList();
        assertEquals(
                List.of(
                        "Start",
                        "Overview",
                        "One",
                        "Concepts",
                        "New",
                        "Reference",
                        "API",
                        "Decisions",
                        "Two",
                        "Project",
                        "Changes &amp; more",
                        "Help"),
                sidebar);
        assertTrue(two.contains("<a class=\"now\" href=\"../../docs/adr/two.html\">Two</a>"), two);
    }

    @Test
    void aLongPageListsItsSections() throws IOException, InterruptedException {
        String sections = "## A\n## B\n## C\n## D\n";
        write(root.resolve("docs/long.md"), "# Long\n[a](#a), [b](#b), [c](#c), [d](#d)\n" + sections);
        made(0);
        write(root.resolve("docs/long.md"), "# Long\n[a](#a), [b](#b), [c](#c), [d](#d)\n" + sections + "## E `f`\n");
        assertTrue(made(1).contains("site: not in the list of contents: page=docs/long.html section=E f"));
    }

    @Test
    void linkThatLeadsNowhereIsNamed() throws IOException, InterruptedException {
        write(root.resolve("docs/getting-started.md"), "# One\n[gone](gone.md)\n[two](adr/two.md#no-such-place)\n");
        List<String> said = made(1);
        assertEquals(
                List.of(
                        "site: broken link: page=index.html link=docs/getting-started.html#a-place-for-x_1"
                                + " missing=place",
                        "site: broken link: page=docs/getting-started.html link=gone.html missing=file",
                        "site: broken link: page=docs/getting-started.html link=adr/two.html#no-such-place"
                                + " missing=place"),
                said.stream()
                        .filter(line -> line.contains("broken link"))
                        .sorted((a, b) -> b.compareTo(a))
                        .toList());
    }
}
