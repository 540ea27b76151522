// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.shared;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;

/// What docs/shared-memory.md says of borrowers that do not end as they should, each with real processes beside a
/// full lender and an honest borrower.
final class Scenes {

    /// One of them.
    private interface Scene {

        /// @throws IOException if it is not as documented
        void run() throws Exception;
    }

    private static final int HELD = 20;
    private static final int LEASES = 64;
    private static final int WORDS = 20_000;
    // far more than what fits into the quotas of both: the memory was used again
    private static final int MANY = 400;
    private static final int PATIENCE_MILLIS = 60_000;
    private static final int LOOK_MILLIS = 10;
    private static final List<String> CONTAINER =
            List.of("unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--net", "--ipc");
    private static final List<String> AS_ANOTHER_USER =
            List.of("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups");

    private final Found found;
    private final Path folder;
    private final Path program;
    private SharedProcess lender;
    private SharedProcess honest;
    private String path;

    /// @param program the borrower in C
    Scenes(Found found, Path folder, Path program) {
        this.found = found;
        this.folder = folder;
        this.program = program;
    }

    void run() throws Exception {
        scene("closes", this::closesAndKeeps);
        scene("lies", this::liesAndKeeps);
        scene("stops", this::stops);
        scene("forks", this::forks);
        scene("execs", this::execs);
        scene("child", this::childOfAJvm);
        scene("other-user", this::otherUser);
        scene("container", this::borrowerInAContainer);
        scene("lender-in-container", this::lenderInAContainer);
    }

    private void scene(String name, Scene scene) throws Exception {
        List<String> before = name.equals("lender-in-container") ? CONTAINER : List.of();
        Optional<String> missing = missing(name);
        if (missing.isPresent()) {
            System.out.println("scene: " + name + " SKIPPED: " + missing.get());
            return;
        }
        lender = SharedProcess.lender(before, folder, "--leases", LEASES, "--words", WORDS, "--budget", 48);
        try {
            path = lender.path();
            honest = SharedProcess.of(List.of(), program.toString(), path);
            honest.awaitFirst();
            scene.run();
            honest.finish();
            found.borrowed(honest);
            lender.finish();
            found.lent(lender, name.equals("lies") ? 1 : 0);
            System.out.println("scene: " + name + " ok");
        } catch (IOException | IllegalStateException otherwise) {
            found.wrong("scene " + name + ": " + otherwise);
        } finally {
            honest.kill();
            lender.kill();
        }
    }

    private Optional<String> missing(String name) throws Exception {
        return switch (name) {
            case "other-user" ->
                runs(AS_ANOTHER_USER) ? Optional.empty() : Optional.of("this user may not become another one");
            case "container", "lender-in-container" ->
                runs(CONTAINER) ? Optional.empty() : Optional.of("no user and process name spaces for this user");
            default -> Optional.empty();
        };
    }

    private static boolean runs(List<String> before) throws InterruptedException {
        List<String> command = new ArrayList<>(before);
        command.add("true");
        try {
            return new ProcessBuilder(command)
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException noSuchProgram) {
            return false;
        }
    }

    /// Its connection has ended, and its string has not.
    private void closesAndKeeps() throws Exception {
        SharedProcess keeps = holding(List.of());
        keeps.tell("hangup");
        restsUntilItEnds(keeps);
    }

    /// What it has of before it lied stays untouched.
    private void liesAndKeeps() throws Exception {
        SharedProcess keeps = holding(List.of());
        keeps.tell("lie");
        await("cut-off", cutOff -> cutOff == 1);
        restsUntilItEnds(keeps);
    }

    private void restsUntilItEnds(SharedProcess keeps) throws Exception {
        await("quarantined", leases -> leases >= HELD);
        awaitTraffic();
        stillWhole(keeps);
        check("quarantined", leases -> leases >= HELD);
        keeps.finish();
        found.borrowed(keeps);
        await("quarantined", leases -> leases == 0);
    }

    private void stops() throws Exception {
        SharedProcess stopped = holding(List.of());
        stopped.signal("STOP");
        awaitTraffic();
        // its quota, and that of the honest one
        check("leases", leases -> leases <= 2 * LEASES);
        check("quarantined", leases -> leases == 0);
        stopped.signal("CONT");
        stillWhole(stopped);
        stopped.finish();
        found.borrowed(stopped);
        await("peers", peers -> peers == 1);
    }

    /// The parent has ended; the child keeps mapping and string.
    private void forks() throws Exception {
        SharedProcess parent = holding(List.of(), "reaped");
        long borrowed = parent.figure("pid");
        long child = parent.ask("fork").figure("child");
        check("child", parent, pid -> pid != borrowed);
        awaitTraffic();
        check("peers", peers -> peers == 2);
        parent.tell("check");
        parent.awaitFigures();
        check("wrong", parent, wrong -> wrong == 0);
        check("held", parent, held -> held == HELD);
        ProcessHandle.of(child).orElseThrow().destroyForcibly();
        parent.status();
        await("peers", peers -> peers == 1);
        check("reclaimed", leases -> leases >= HELD);
    }

    /// Another program has neither mapping nor string.
    private void execs() throws Exception {
        SharedProcess other = holding(List.of());
        long pid = other.ask("exec").figure("pid");
        check("pid", other, now -> now == pid);
        await("peers", peers -> peers == 1);
        check("reclaimed", leases -> leases >= HELD);
        if (!other.isAlive()) {
            throw new IOException("has ended: pid=" + pid);
        }
        other.kill();
    }

    /// What a JVM starts has neither, too.
    private void childOfAJvm() throws Exception {
        SharedProcess jvm = SharedProcess.borrower(path, Borrowing.CHILD);
        long child = jvm.awaitFigures().figure("child");
        jvm.awaitFirst();
        jvm.kill();
        ProcessHandle handle = ProcessHandle.of(child).orElseThrow();
        try {
            await("peers", peers -> peers == 1);
            if (!handle.isAlive()) {
                throw new IOException("has ended: pid=" + child);
            }
        } finally {
            handle.destroyForcibly();
        }
    }

    private void otherUser() throws Exception {
        Path copy = Files.createTempFile("bulla-borrow", "");
        try {
            Files.copy(program, copy, StandardCopyOption.REPLACE_EXISTING);
            Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwxr-xr-x"));
            Path socket = Path.of(path);
            expect("it can be started: usage", 2, "", copy.toString());
            expect("the folder", 2, "connect: Permission denied", copy.toString(), path);
            check("refused", refused -> refused == 0);
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
            Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rwxrwxrwx"));
            expect("the lender", 2, "greeting: Connection refused", copy.toString(), path);
            await("refused", refused -> refused == 1);
        } finally {
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
            Files.delete(copy);
        }
    }

    private static void expect(String what, int status, String says, String... command) throws Exception {
        List<String> all = new ArrayList<>(AS_ANOTHER_USER);
        all.addAll(List.of(command));
        Process process = new ProcessBuilder(all).redirectErrorStream(true).start();
        // one that is let in ends with its input
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        if (process.waitFor() != status || !said.contains(says)) {
            throw new IOException(what + ": status=" + process.exitValue() + " said=" + said.strip());
        }
    }

    private void borrowerInAContainer() throws Exception {
        SharedProcess inside = holding(CONTAINER);
        // its own name space has it as 1
        check("pid", inside, pid -> pid == 1);
        check("last-pid", pid -> pid > 1);
        awaitTraffic();
        stillWhole(inside);
        inside.kill();
        await("peers", peers -> peers == 1);
        check("reclaimed", leases -> leases >= HELD);
    }

    private void lenderInAContainer() throws Exception {
        SharedProcess outside = holding(List.of());
        check("last-pid", pid -> pid == 0);
        awaitTraffic();
        stillWhole(outside);
        outside.finish();
        found.borrowed(outside);
        await("peers", peers -> peers == 1);
    }

    private SharedProcess holding(List<String> before, String... how) throws Exception {
        List<String> command = new ArrayList<>(List.of(program.toString(), path, Integer.toString(HELD)));
        command.addAll(List.of(how));
        SharedProcess borrower = SharedProcess.of(before, command.toArray(String[]::new));
        borrower.awaitFigures();
        check("holds", borrower, held -> held == HELD);
        return borrower;
    }

    private void stillWhole(SharedProcess borrower) throws Exception {
        borrower.ask("check");
        check("wrong", borrower, wrong -> wrong == 0);
        check("held", borrower, held -> held == HELD);
    }

    /// The lender goes on, with memory that it has used before.
    private void awaitTraffic() throws Exception {
        long before = lender.ask("figures").figure("lent");
        await("lent", lent -> lent >= before + MANY);
    }

    private void await(String figure, LongPredicate wanted) throws Exception {
        for (int waited = 0; !wanted.test(lender.ask("figures").figure(figure)); waited += LOOK_MILLIS) {
            if (waited > PATIENCE_MILLIS) {
                throw new IOException("not so after " + waited + " ms: " + figure + ": " + lender.said());
            }
            Thread.sleep(LOOK_MILLIS);
        }
    }

    private void check(String figure, LongPredicate wanted) throws Exception {
        check(figure, lender.ask("figures"), wanted);
    }

    private static void check(String figure, SharedProcess of, LongPredicate wanted) throws IOException {
        if (!wanted.test(of.figure(figure))) {
            throw new IOException("not so: " + figure + ": " + of.said());
        }
    }
}
