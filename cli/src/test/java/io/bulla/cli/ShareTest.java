// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.posix.memfd.MappingProtection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShareTest {

    /// All ways, or those that a machine without memory files has.
    private static final List<String> SENDS = sends();

    /// What names the way, where the default one is missing.
    private static final List<String> WAY = SENDS.contains("seal") ? List.of() : List.of("--send=copy");

    @TempDir
    private Path folder;

    private List<Path> before;
    private Path file;
    private String out;
    private String err;

    @BeforeEach
    void writeFile() throws IOException {
        byte[] content = new byte[300_000];
        new Random(1).nextBytes(content);
        file = Files.write(folder.resolve("payload"), content);
        before = allFoldersOfBulla();
    }

    @AfterEach
    void nothingStays() throws IOException {
        assertEquals(
                List.of(),
                ProcessHandle.current()
                        .children()
                        .filter(ProcessHandle::isAlive)
                        .toList());
        assertEquals(List.of(), foldersOfBulla());
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            assertEquals(List.of(), files.filter(ShareTest::isOfBulla).toList());
        }
    }

    private static List<String> sends() {
        try {
            MappingProtection.ofKernel();
            return List.of("seal", "slab", "copy");
        } catch (UnsupportedOperationException none) {
            System.out.println("share: only copy is tried: " + none.getMessage());
            return List.of("copy");
        }
    }

    private static boolean isOfBulla(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().contains("bulla-share");
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }

    /// Those of this test: a machine may have others, of processes that were killed.
    private List<Path> foldersOfBulla() throws IOException {
        List<Path> folders = new ArrayList<>(allFoldersOfBulla());
        folders.removeAll(before);
        return folders;
    }

    private static List<Path> allFoldersOfBulla() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.filter(path -> path.getFileName().toString().matches("bulla-share\\d+"))
                    .toList();
        }
    }

    @Test
    void everyProcessVerifies() {
        assertEquals(0, run("share", "--processes=3", file.toString()), () -> err);
        assertTrue(
                out.matches("every process has the bytes, not yet verified: send=" + SENDS.getFirst()
                        + " rounds=1 seconds=\\d+\\.\\d{6}\nshare: processes=3 bytes=300000 verified=3"
                        + " seconds=\\d+\\.\\d{6}\n"),
                out);
        assertEquals("", err);
    }

    @Test
    void lastOfSeveralRoundsIsVerified() {
        for (String send : SENDS) {
            assertEquals(0, run("share", "--processes=2", "--rounds=3", "--send=" + send, file.toString()), () -> err);
            assertTrue(out.contains("send=" + send + " rounds=3 "), out);
            assertTrue(out.contains("share: processes=2 bytes=300000 verified=2 "), out);
            assertEquals("", err);
        }
    }

    @Test
    void fileOfNothingIsHandedOver() throws IOException {
        Files.write(file, new byte[0]);
        for (String send : SENDS) {
            assertEquals(0, run("share", "--processes=1", "--send=" + send, file.toString()), () -> err);
            assertTrue(out.contains("share: processes=1 bytes=0 verified=1 "), out);
        }
    }

    @Test
    void processThatDiesIsAnErrorOfOneLine() {
        for (String send : SENDS) {
            assertEquals(1, run("share", "--processes=2", "--fail-process=2", "--send=" + send, file.toString()));
            assertEquals("bulla: process 2 died: status=3 said=[dies, as it was told]", err.strip());
        }
    }

    @Test
    void timeIsLimited() {
        assertEquals(1, run("share", "--processes=12", "--timeout=1", file.toString()));
        assertEquals("bulla: timed out: seconds=1", err.strip());
    }

    @Test
    void signalEndsEveryProcess() throws Exception {
        Process bulla = started();
        List<ProcessHandle> children = bulla.children().toList();
        assertEquals(4, children.size(), () -> said());
        bulla.destroy();
        assertTrue(bulla.waitFor(60, TimeUnit.SECONDS));
        assertEquals(128 + 15, bulla.exitValue());
        for (ProcessHandle child : children) {
            child.onExit().get(60, TimeUnit.SECONDS);
            assertFalse(child.isAlive());
        }
        assertTrue(Files.readString(folder.resolve("out")).lines().count() <= 1);
    }

    /// A file of the kernel's says that it has no bytes.
    @Test
    void fileIsReadToItsEndWhateverItsSizeSays() throws IOException {
        Path version = Path.of("/proc/version");
        assertEquals(0, Files.size(version));
        long bytes = Files.readAllBytes(version).length;
        for (String send : SENDS) {
            assertEquals(0, run("share", "--processes=1", "--send=" + send, version.toString()), () -> err);
            assertTrue(out.contains("share: processes=1 bytes=" + bytes + " verified=1 "), out);
        }
    }

    private Process started(String... before) throws Exception {
        List<String> command = new ArrayList<>(List.of(before));
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Bulla.class.getName(),
                "share",
                "--processes=4",
                "--rounds=100",
                file.toString()));
        command.addAll(WAY);
        Process bulla = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("out").toFile())
                .start();
        while (bulla.children().count() < 4 && bulla.isAlive()) {
            Thread.sleep(5);
        }
        return bulla;
    }

    @Test
    void killedParentLeavesNoFolder() throws Exception {
        Process bulla = started();
        List<ProcessHandle> children = bulla.children().toList();
        assertEquals(4, children.size(), () -> said());
        bulla.destroyForcibly().waitFor();
        for (ProcessHandle child : children) {
            child.onExit().get(60, TimeUnit.SECONDS);
        }
        assertEquals(List.of(), foldersOfBulla());
    }

    /// Killed before it had a child that could do so.
    @Test
    void nextOneRemovesTheFolderOfADeadProcessAndNoOther() throws IOException {
        Path dead = Files.createTempDirectory("bulla-share");
        Files.createFile(dead.resolve("lock"));
        Files.createFile(dead.resolve("out-0"));
        Path tmp = Path.of(System.getProperty("java.io.tmpdir"));
        Path notOurs = Files.createDirectory(tmp.resolve("bulla-sharex" + System.nanoTime()));
        try {
            assertEquals(0, run("share", "--processes=1", file.toString()), () -> err);
            assertFalse(Files.exists(dead));
            assertTrue(Files.exists(notOurs));
        } finally {
            Files.delete(notOurs);
        }
    }

    /// As from the keyboard: every process gets it, and the children are often the first to end.
    @Test
    void signalToTheGroupIsSaidAsAnInterruption() throws Exception {
        Process bulla = started("setsid", "env", "--default-signal=INT");
        assertEquals(4, bulla.children().count(), () -> said());
        long group = bulla.pid();
        assertEquals(
                0, new ProcessBuilder("kill", "-INT", "--", "-" + group).start().waitFor());
        assertTrue(bulla.waitFor(60, TimeUnit.SECONDS));
        assertEquals(128 + 2, bulla.exitValue());
        assertEquals("bulla: interrupted: share processes=4 file=" + file + "\n", said());
    }

    private String said() {
        try {
            return Files.readString(folder.resolve("out"));
        } catch (IOException unreadable) {
            return unreadable.toString();
        }
    }

    @Test
    void usageErrorsHaveStatusTwo() {
        Ran.refused("--processes must be at least 1: given=0", "share", "--processes=0", file.toString());
        Ran.refused("--rounds must be at least 1: given=0", "share", "--rounds=0", file.toString());
        Ran.refused(
                "--processes must be at most 10000: given=2147483647",
                "share",
                "--processes=2147483647",
                file.toString());
        Ran.refused(
                "--rounds must be at most 1000000: given=2147483647", "share", "--rounds=2147483647", file.toString());
        Ran.refused("--timeout must be at least 1: given=0", "share", "--timeout=0", file.toString());
        Ran.refused(
                "--fail-process is not a process: fail-process=17 processes=16",
                "share",
                "--fail-process=17",
                file.toString());
        Ran.refused("Missing required parameter: 'FILE'", "share");
        Ran.refused("Unknown option: '--nodes=3'", "share", "--nodes=3", file.toString());
    }

    @Test
    void fileThatCannotBeReadIsNamed() {
        Path nowhere = folder.resolve("nowhere");
        assertEquals(1, run("share", nowhere.toString()));
        assertEquals("bulla: cannot read " + nowhere + ": no such file", err.strip());
        assertEquals(1, run("share", folder.toString()));
        assertEquals("bulla: cannot read " + folder + ": a directory", err.strip());
    }

    @Test
    void helpNamesTheOptions() {
        assertEquals(0, run("share", "--help"));
        assertTrue(out.contains("--processes") && out.contains("--send"), out);
    }

    private int run(String... args) {
        List<String> words = new ArrayList<>(List.of(args));
        if (words.stream().noneMatch(word -> word.startsWith("--send"))) {
            words.addAll(1, WAY);
        }
        Ran ran = Ran.bulla(words.toArray(String[]::new));
        out = ran.out();
        err = ran.err();
        return ran.status();
    }
}
