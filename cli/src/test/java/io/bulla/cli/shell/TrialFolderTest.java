// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.shell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrialFolderTest {

    private static final Path TMP = Path.of(System.getProperty("java.io.tmpdir"));

    /// Of this run alone.
    private final String name = "bulla-t" + ProcessHandle.current().pid() + "-" + System.nanoTime() + "-";

    private void otherCommand(Path tmp) throws Exception {
        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Djava.io.tmpdir=" + tmp,
                        "-cp",
                        System.getProperty("java.class.path"),
                        TrialFolderProgram.class.getName(),
                        name)
                .inheritIO()
                .start();
        assertEquals(0, other.waitFor());
    }

    @Test
    void otherCommandLeavesTheFoldersOfALivingOne() throws Exception {
        try (TrialFolder first = TrialFolder.create(name);
                TrialFolder second = TrialFolder.create(name)) {
            otherCommand(TMP);
            assertTrue(Files.exists(first.path()));
            assertTrue(Files.exists(second.path()));
        }
    }

    @Test
    void otherFolderOfTheSameProcessIsClosedAndThisOneStays() throws Exception {
        try (TrialFolder folder = TrialFolder.create(name)) {
            TrialFolder.create(name).close();
            TrialFolder.removeIfOrphan(folder.path());
            otherCommand(TMP);
            assertTrue(Files.exists(folder.path()));
        }
    }

    /// As a program that is told the folder's name may see it once more.
    @Test
    void folderThatIsClosedIsGoneAndForgotten() throws IOException {
        TrialFolder folder = TrialFolder.create(name);
        folder.close();
        assertFalse(Files.exists(folder.path()));
        Files.createDirectory(folder.path());
        Files.createFile(folder.path().resolve("lock"));
        TrialFolder.removeIfOrphan(folder.path());
        assertFalse(Files.exists(folder.path()));
    }

    /// Between the two another command would take it for a dead one's.
    @Test
    void folderIsLockedBeforeItHasItsName(@TempDir Path tmp) throws Exception {
        try (WatchService watch = tmp.getFileSystem().newWatchService()) {
            tmp.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            otherCommand(tmp);
            WatchKey key = watch.poll(60, TimeUnit.SECONDS);
            assertTrue(key != null, "nothing was made");
            List<String> made = key.pollEvents().stream()
                    .map(WatchEvent::context)
                    .map(Object::toString)
                    .filter(each -> each.contains(name))
                    .toList();
            assertTrue(made.getFirst().startsWith("." + name), made::toString);
        }
    }
}
