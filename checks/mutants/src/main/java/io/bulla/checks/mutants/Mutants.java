// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.mutants;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Applies one mutant after the other, and tells which of them its tests did not see. What a mutant leaves behind,
/// threads that never end or a heap that is full, must not judge the next one: exit status 75 asks for a new process,
/// which goes on after the results that are there. There a mutant of which a test came to no end is tried again,
/// behind that test without it: only no end twice is a kill.
///
/// `Mutants run|tell ROOT RESULTS PARTS PART [TYPE...]`: one in PARTS, beginning with PART, of these types if any is
/// named; ROOT/stress/mutants holds them. Each part has those that only a litmus twin shows: they cost no time.
/// Several processes may run on the same results: each mutant is one process's, which claims it by a file of its
/// name. `tell` prints what they came to, and its exit status says whether one is alive.
public final class Mutants {

    private static final int AGAIN = 75;
    private static final int IN_A_PROCESS = 50;

    private final Path root;
    private final Path results;
    private final Path claims;
    // a file for each one of which a test came to no end once
    private final Path late;
    private final PrintStream out;
    private final Tests tests;

    private Mutants(Path root, Path results) throws IOException {
        this.root = root;
        this.results = results;
        this.claims = Files.createDirectories(results.resolveSibling("claims"));
        this.late = Files.createDirectories(results.resolveSibling("late"));
        // what tests print is of no use
        this.out = new PrintStream(new FileOutputStream(FileDescriptor.out), true);
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        this.tests = new Tests(root, results.resolveSibling("green"));
    }

    public static void main(String[] args) throws Exception {
        var all = Mutant.all(Path.of(args[1], "stress", "mutants"));
        checkNames(all);
        var mine = part(
                all,
                Integer.parseInt(args[3]),
                Integer.parseInt(args[4]),
                List.of(args).subList(5, args.length));
        int status = 1;
        try {
            var mutants = new Mutants(Path.of(args[1]), Path.of(args[2]));
            status = args[0].equals("tell") ? mutants.summary(mine) : mutants.run(mine);
        } finally {
            // threads that tests left behind must not keep this process
            Runtime.getRuntime().halt(status);
        }
    }

    private static void checkNames(List<Mutant> all) {
        var names = new HashSet<String>();
        for (Mutant mutant : all) {
            if (!names.add(mutant.name())) {
                throw new IllegalStateException("two mutants of one name: mutant=" + mutant.name());
            }
        }
    }

    private static List<Mutant> part(List<Mutant> all, int parts, int part, List<String> types) {
        var mine = new ArrayList<Mutant>();
        for (int i = 0; i < all.size(); i++) {
            String type = all.get(i).source().getFileName().toString().replace(".java", "");
            boolean inThisPart =
                    i % parts == part % parts || !all.get(i).twins().isEmpty();
            if (inThisPart && (types.isEmpty() || types.contains(type))) {
                mine.add(all.get(i));
            }
        }
        if (mine.isEmpty()) {
            throw new IllegalArgumentException("no mutants: part=" + part + "/" + parts + " types=" + types);
        }
        return mine;
    }

    private int run(List<Mutant> mutants) throws Exception {
        int done = 0;
        for (Mutant mutant : mutants) {
            if (!claim(mutant)) {
                continue;
            }
            boolean again = Files.exists(late.resolve(mutant.name()));
            if (again && done > 0) {
                return giveBack(mutant);
            }
            long begun = System.nanoTime();
            Trial.Verdict verdict = new Trial(root, mutant, tests, again).verdict();
            if (verdict.isLate()) {
                Files.createFile(late.resolve(mutant.name()));
                return giveBack(mutant);
            }
            if (verdict.isDoubtful() && done > 0) {
                return giveBack(mutant);
            }
            note(mutant, verdict, (System.nanoTime() - begun) / 1_000_000);
            done++;
            if (verdict.hasLeftovers() || done == IN_A_PROCESS) {
                return AGAIN;
            }
        }
        return 0;
    }

    // for a new process
    private int giveBack(Mutant mutant) throws IOException {
        Files.delete(claims.resolve(mutant.name()));
        return AGAIN;
    }

    private boolean claim(Mutant mutant) throws IOException {
        try {
            Files.createFile(claims.resolve(mutant.name()));
            return true;
        } catch (FileAlreadyExistsException another) {
            return false;
        }
    }

    private int summary(List<Mutant> mutants) throws IOException {
        Map<String, String> seen = seen();
        mutants.stream()
                .map(mutant -> mutant.name() + " " + seen.get(mutant.name()))
                .filter(line -> line.contains(" ALIVE"))
                .forEach(line -> out.println("  alive  " + line));
        long killed = count(mutants, seen, "killed");
        long hidden = count(mutants, seen, "hidden");
        long alive = mutants.size() - killed - hidden;
        out.println("mutants: all=" + mutants.size() + " killed=" + killed + " hidden=" + hidden + " alive=" + alive);
        return alive == 0 ? 0 : 1;
    }

    private static long count(List<Mutant> mutants, Map<String, String> seen, String verdict) {
        return mutants.stream()
                .filter(mutant -> seen.getOrDefault(mutant.name(), "").startsWith(verdict))
                .count();
    }

    private Map<String, String> seen() throws IOException {
        var seen = new LinkedHashMap<String, String>();
        if (Files.exists(results)) {
            for (String line : Files.readAllLines(results)) {
                int end = line.indexOf(' ');
                seen.put(line.substring(0, end), line.substring(end + 1));
            }
        }
        return seen;
    }

    private void note(Mutant mutant, Trial.Verdict verdict, long millis) throws IOException {
        String line = mutant.name() + " " + verdict.text().lines().findFirst().orElse("");
        Files.writeString(results, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        out.printf("  mutant %6.1f s  %s%n", millis / 1e3, line.length() > 200 ? line.substring(0, 200) : line);
    }
}
