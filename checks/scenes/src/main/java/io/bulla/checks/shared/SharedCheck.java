// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.shared;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.Stream;

/// Lenders and borrowers of shared slabs as real processes that are killed at random, and C programs that
/// attack, and that borrow in unusual ways: docs/shared-memory.md. Arguments: `--kills N`, `--processes N`,
/// `--seed N`, `--attack PROGRAM`, `--borrow PROGRAM`, `--alone` if no other process makes files in `/tmp` and
/// `/dev/shm`; `--kills-only` and `--seconds MOST` for a piece of a long run; `--reuse SECONDS` in place of all else.
///
/// Each message says what its bytes have to be. Borrowers look at every byte of what they hold, also
/// after their lender was killed.
public final class SharedCheck {

    private static final int ROUNDS = 20;
    private static final int LEASES = 1000;

    private final Found found = new Found();
    private final Random random;
    private final Path folder;
    private final String program;

    private SharedCheck(long seed, Path folder, String program) {
        this.random = new Random(seed);
        this.folder = folder;
        this.program = program;
    }

    /// Ends with a line of figures, and with status 1 if one of them is wrong.
    ///
    /// @param args see above
    /// @throws Exception if a process cannot be started, or does not end
    public static void main(String... args) throws Exception {
        List<String> words = List.of(args);
        int kills = (int) Lending.number(words, "--kills", 1000);
        int processes = (int) Lending.number(words, "--processes", 16);
        int seconds = (int) Lending.number(words, "--reuse", 0);
        long seed = Lending.number(words, "--seed", System.nanoTime());
        System.out.println("shared: kills=" + (seconds > 0 ? 0 : kills) + " processes=" + processes + " reuse="
                + seconds + "s seed=" + seed);
        TreeSet<String> before = files(words);
        Path folder = Files.createTempDirectory(
                "bulla-slabs", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        SharedCheck check = new SharedCheck(seed, folder, word(words, "--borrow"));
        boolean attacked = true;
        if (seconds > 0) {
            // messages for 14 borrowers do not fit: each waits for memory that another one has given back
            check.kills(0, seconds, processes, "--budget", 24, "--burst", 4);
        } else {
            if (!words.contains("--kills-only")) {
                attacked = check.attack(word(words, "--attack"));
                check.scenes();
                check.closeALot();
            }
            check.kills(kills, (int) Lending.number(words, "--seconds", Integer.MAX_VALUE), processes);
        }
        long files = check.removeFolder() + left(before, files(words));
        System.out.println("closed, from the kill to the last lease: " + check.found.closes());
        System.out.println(check.found.load());
        System.out.println(check.found.line(files));
        if (!attacked || !check.found.isGood() || files > 0) {
            System.exit(1);
        }
    }

    /// A lender with an honest borrower, and the C program beside it.
    private boolean attack(String attacker) throws Exception {
        if (attacker.isEmpty()) {
            return true;
        }
        SharedProcess lender = SharedProcess.lender(List.of(), folder);
        String path = lender.path();
        SharedProcess honest = SharedProcess.borrower(path);
        try {
            honest.awaitFirst();
            Process attack = new ProcessBuilder(attacker, path)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            List<String> said = attack.inputReader().lines().toList();
            said.forEach(System.out::println);
            int status = attack.waitFor();
            honest.finish();
            found.borrowed(honest);
            lender.finish();
            System.out.println("attacked: status=" + status + " " + lender.said());
            return status == 0
                    && !said.isEmpty()
                    && said.getLast().contains(" lies=" + lender.figure("cut-off") + " ")
                    && lender.figure("cut-off") > 0
                    && lender.figure("leases") + lender.figure("booked") + lender.figure("left") == 0;
        } finally {
            honest.kill();
            lender.kill();
        }
    }

    private void scenes() throws Exception {
        if (!program.isEmpty()) {
            new Scenes(found, folder, Path.of(program)).run();
        }
    }

    /// Borrowers that are killed with a thousand leases.
    private void closeALot() throws Exception {
        if (program.isEmpty()) {
            return;
        }
        Found closed = new Found();
        SharedProcess lender = SharedProcess.lender(
                List.of(),
                folder,
                "--leases",
                LEASES,
                "--bytes",
                64 << 20,
                "--words",
                2000,
                "--budget",
                256,
                "--burst",
                50);
        try {
            String path = lender.path();
            for (int i = 0; i < ROUNDS; i++) {
                SharedProcess borrower = SharedProcess.of(List.of(), program, path, Integer.toString(LEASES));
                if (borrower.awaitFigures().figure("holds") != LEASES) {
                    found.wrong("not so many leases: " + borrower.said());
                }
                closed.killed(borrower.pid(), borrower.kill());
            }
            lender.finish();
            closed.closed(lender.ended());
            found.lent(lender);
            if (lender.figure("reclaimed") < ROUNDS * (long) LEASES) {
                found.wrong("leases that were not closed: " + lender.said());
            }
        } finally {
            lender.kill();
        }
        System.out.println("closed, from the kill to the last of " + LEASES + " leases: " + closed.closes());
    }

    private void kills(int kills, int seconds, int processes, Object... options) throws Exception {
        Kills run = new Kills(found, random, folder, program, options);
        try {
            run.run(kills, seconds, processes);
        } finally {
            run.endAll();
        }
    }

    private static String word(List<String> words, String name) {
        int at = words.indexOf(name);
        return at < 0 ? "" : words.get(at + 1);
    }

    private static TreeSet<String> files(List<String> words) throws IOException {
        TreeSet<String> all = new TreeSet<>();
        if (words.contains("--alone")) {
            for (String each : List.of("/tmp", "/dev/shm")) {
                try (Stream<Path> files = Files.list(Path.of(each))) {
                    files.map(Path::toString).forEach(all::add);
                }
            }
        }
        return all;
    }

    private static long left(TreeSet<String> before, TreeSet<String> after) {
        after.removeAll(before);
        after.forEach(each -> System.out.println("left: " + each));
        return after.size();
    }

    /// @return files that were in it
    private long removeFolder() throws IOException {
        long left = 0;
        try (Stream<Path> files = Files.list(folder)) {
            for (Path each : files.toList()) {
                System.out.println("left: " + each);
                Files.delete(each);
                left++;
            }
        }
        Files.delete(folder);
        return left;
    }
}
