// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.shared;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/// Lenders and borrowers that are killed at random, each replaced at once; or, without kills, only time that
/// passes.
final class Kills {

    private static final int LENDERS = 2;
    // of as many borrowers one is a JVM, if there is a borrower in C
    private static final int JVM_EVERY = 4;
    private static final int MOST_PAUSE_MILLIS = 120;
    private static final int LOOK_MILLIS = 1000;
    private static final long SECOND = 1_000_000_000;

    private final Found found;
    private final Random random;
    private final Path folder;
    private final String program;
    private final Object[] options;
    private final List<SharedProcess> lenders = new ArrayList<>();
    private final List<SharedProcess> borrowers = new ArrayList<>();

    /// @param program a borrower in C, or empty
    /// @param options of the lenders
    Kills(Found found, Random random, Path folder, String program, Object... options) {
        this.found = found;
        this.random = random;
        this.folder = folder;
        this.program = program;
        this.options = options;
    }

    /// Kills so many, if there is time; without kills, lets them lend and borrow so long.
    void run(int kills, int seconds, int processes) throws Exception {
        start(processes);
        long until = System.nanoTime() + seconds * SECOND;
        for (int i = 0; (kills == 0 || i < kills) && System.nanoTime() < until; i++) {
            Thread.sleep(kills == 0 ? LOOK_MILLIS : random.nextInt(MOST_PAUSE_MILLIS));
            if (kills == 0) {
                checkAllAlive();
            } else {
                killAny(random.nextInt(processes));
            }
        }
        finish();
    }

    private void killAny(int which) throws Exception {
        if (which < LENDERS) {
            killLender(which);
        } else {
            killBorrower(which - LENDERS);
        }
    }

    private void start(int processes) throws Exception {
        for (int i = 0; i < LENDERS; i++) {
            lenders.add(lender());
        }
        for (int i = 0; i < LENDERS; i++) {
            paths[i] = lenders.get(i).path();
        }
        for (int i = 0; i < processes - LENDERS; i++) {
            borrowers.add(borrower(i));
        }
    }

    private final String[] paths = new String[LENDERS];

    private SharedProcess lender() throws IOException {
        return SharedProcess.lender(List.of(), folder, options);
    }

    private SharedProcess borrower(int which) throws IOException {
        String path = paths[which % LENDERS];
        return program.isEmpty() || which / LENDERS % JVM_EVERY == 0
                ? SharedProcess.borrower(path)
                : SharedProcess.of(List.of(), program, path);
    }

    private void checkAllAlive() {
        Stream.concat(lenders.stream(), borrowers.stream())
                .filter(each -> !each.isAlive())
                .forEach(each -> found.wrong("ended by itself: pid=" + each.pid()));
    }

    private void killBorrower(int which) throws Exception {
        SharedProcess borrower = borrowers.get(which);
        found.killed(borrower.pid(), borrower.kill());
        borrowers.set(which, borrower(which));
    }

    /// Its borrowers look at what they hold once more, and end by themselves.
    private void killLender(int which) throws Exception {
        lenders.get(which).kill();
        found.countKill();
        found.closed(lenders.get(which).ended());
        lenders.set(which, lender());
        for (int i = which; i < borrowers.size(); i += LENDERS) {
            end(borrowers.get(i));
        }
        paths[which] = lenders.get(which).path();
        for (int i = which; i < borrowers.size(); i += LENDERS) {
            borrowers.set(i, borrower(i));
        }
    }

    private void end(SharedProcess borrower) throws Exception {
        borrower.finish();
        found.borrowed(borrower);
    }

    private void finish() throws Exception {
        for (SharedProcess each : borrowers) {
            end(each);
        }
        borrowers.clear();
        for (SharedProcess each : lenders) {
            each.finish();
            found.lent(each);
            found.closed(each.ended());
        }
        lenders.clear();
    }

    /// Whatever has happened.
    void endAll() {
        Stream.of(lenders, borrowers).flatMap(Collection::stream).forEach(SharedProcess::kill);
    }
}
