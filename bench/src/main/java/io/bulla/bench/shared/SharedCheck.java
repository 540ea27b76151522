// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/// Lenders and borrowers of shared slabs as real processes that are killed at random, and a C program
/// that attacks one:
/// docs/shared-memory.md. Arguments: `--kills N`, `--processes N`, `--seed N`, `--attack PROGRAM`.
///
/// Each message says what its bytes have to be. Borrowers look at every byte of what they hold, also
/// after their lender
/// was killed; one that finds a wrong byte says so and ends.
public final class SharedCheck {

    private static final int LENDERS = 2;
    private static final int MOST_PAUSE_MILLIS = 120;

    private final Random random;
    private final Path folder;
    private final List<SharedProcess> lenders = new ArrayList<>();
    private final List<SharedProcess> borrowers = new ArrayList<>();
    private long wrong;
    private long leasesLeft;
    private long messages;
    private long cutOff;

    private SharedCheck(long seed, Path folder) {
        this.random = new Random(seed);
        this.folder = folder;
    }

    /// Ends with a line of figures, and with status 1 if one of them is wrong.
    ///
    /// @param args see above
    /// @throws Exception if a process cannot be started, or does not end
    public static void main(String... args) throws Exception {
        List<String> words = List.of(args);
        int kills = (int) number(words, "--kills", 1000);
        int processes = (int) number(words, "--processes", 16);
        long seed = number(words, "--seed", System.nanoTime());
        System.out.println("shared: kills=" + kills + " processes=" + processes + " seed=" + seed);
        Path folder = Files.createTempDirectory(
                "bulla-slabs", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        SharedCheck check = new SharedCheck(seed, folder);
        boolean attacked;
        try {
            int program = words.indexOf("--attack");
            attacked = program < 0 || check.attack(words.get(program + 1));
            check.kill(kills, processes);
        } finally {
            check.endAll();
        }
        long files = check.removeFolder();
        System.out.println("messages=" + check.messages + " cut-off=" + check.cutOff);
        System.out.println("shared: kills=" + kills + " wrong=" + check.wrong + " leases-left=" + check.leasesLeft
                + " files-left=" + files);
        if (!attacked || check.wrong + check.leasesLeft + files + check.cutOff > 0 || check.messages == 0) {
            System.exit(1);
        }
    }

    /// A lender with an honest borrower, and the C program beside it.
    private boolean attack(String program) throws Exception {
        SharedProcess lender = SharedProcess.lender(folder);
        SharedProcess honest = SharedProcess.borrower(lender.path());
        try {
            honest.awaitFirst();
            Process attack = new ProcessBuilder(program, lender.path())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            List<String> said = attack.inputReader().lines().toList();
            said.forEach(System.out::println);
            int status = attack.waitFor();
            honest.finish();
            lender.finish();
            wrong += honest.figure("wrong") + (honest.figure("messages") == 0 ? 1 : 0);
            leasesLeft += lender.figure("leases");
            System.out.println("attacked: status=" + status + " " + lender.said());
            return status == 0
                    && !said.isEmpty()
                    && said.getLast().contains(" lies=" + lender.figure("cut-off") + " ")
                    && lender.figure("cut-off") > 0;
        } finally {
            honest.kill();
            lender.kill();
        }
    }

    private void kill(int kills, int processes) throws Exception {
        for (int i = 0; i < LENDERS; i++) {
            lenders.add(SharedProcess.lender(folder));
        }
        for (int i = 0; i < processes - LENDERS; i++) {
            borrowers.add(SharedProcess.borrower(lenders.get(i % LENDERS).path()));
        }
        for (int i = 0; i < kills; i++) {
            Thread.sleep(random.nextInt(MOST_PAUSE_MILLIS));
            int which = random.nextInt(processes);
            if (which < LENDERS) {
                killLender(which);
            } else {
                killBorrower(which - LENDERS);
            }
        }
        for (SharedProcess each : borrowers) {
            end(each);
        }
        borrowers.clear();
        for (SharedProcess each : lenders) {
            each.finish();
            leasesLeft += each.figure("leases") + each.figure("booked") + each.figure("memory-files");
            cutOff += each.figure("cut-off");
        }
        lenders.clear();
    }

    private void killBorrower(int which) throws Exception {
        borrowers.get(which).kill();
        borrowers.set(which, SharedProcess.borrower(lenders.get(which % LENDERS).path()));
    }

    /// Its borrowers look at what they hold once more, and end by themselves.
    private void killLender(int which) throws Exception {
        lenders.get(which).kill();
        lenders.set(which, SharedProcess.lender(folder));
        for (int i = which; i < borrowers.size(); i += LENDERS) {
            end(borrowers.get(i));
            borrowers.set(i, SharedProcess.borrower(lenders.get(which).path()));
        }
    }

    private void end(SharedProcess borrower) throws Exception {
        borrower.finish();
        wrong += borrower.figure("wrong");
        messages += borrower.figure("messages");
    }

    private void endAll() {
        Stream.concat(lenders.stream(), borrowers.stream()).forEach(SharedProcess::kill);
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

    private static long number(List<String> words, String name, long usual) {
        int at = words.indexOf(name);
        return at < 0 ? usual : Long.parseLong(words.get(at + 1));
    }
}
