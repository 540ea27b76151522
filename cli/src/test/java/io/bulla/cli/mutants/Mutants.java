// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.mutants;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Applies one mutant after the other, and tells which of them its tests did not see. A mutant in which a test never
/// ends is killed too, and this process with it: exit status 75 asks to be started again, and goes on.
///
/// `Mutants ROOT RESULTS PARTS PART [TYPE...]`: one in PARTS, beginning with PART, of these types if any is named;
/// ROOT/stress/mutants holds them.
public final class Mutants {

    private static final int AGAIN = 75;
    private static final long PATIENCE_SECONDS = 90;

    private final Path root;
    private final Path results;

    private Mutants(Path root, Path results) {
        this.root = root;
        this.results = results;
    }

    public static void main(String[] args) throws Exception {
        int parts = Integer.parseInt(args[2]);
        int part = Integer.parseInt(args[3]);
        var all = new ArrayList<>(Mutant.all(Path.of(args[0], "stress", "mutants")));
        var types = List.of(args).subList(4, args.length);
        all.removeIf(mutant -> !types.isEmpty()
                && !types.contains(mutant.source().getFileName().toString().replace(".java", "")));
        var mine = new ArrayList<Mutant>();
        for (int i = 0; i < all.size(); i++) {
            if (i % parts == part % parts) {
                mine.add(all.get(i));
            }
        }
        int status = new Mutants(Path.of(args[0]), Path.of(args[1])).run(mine);
        // threads that tests left behind must not keep this process
        System.out.flush();
        Runtime.getRuntime().halt(status);
    }

    private int run(List<Mutant> mutants) throws Exception {
        Map<String, String> seen = seen();
        for (Mutant mutant : mutants) {
            if (!seen.containsKey(mutant.name())) {
                String verdict = bounded(mutant);
                note(mutant, verdict);
                if (verdict.startsWith("killed: no end")) {
                    return AGAIN;
                }
            }
        }
        return summary(mutants);
    }

    private int summary(List<Mutant> mutants) throws IOException {
        Map<String, String> seen = seen();
        long killed = count(mutants, seen, "killed");
        long hidden = count(mutants, seen, "hidden");
        long alive = mutants.size() - killed - hidden;
        System.out.println(
                "mutants: all=" + mutants.size() + " killed=" + killed + " hidden=" + hidden + " alive=" + alive);
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

    private void note(Mutant mutant, String verdict) throws IOException {
        String line = mutant.name() + " " + verdict.lines().findFirst().orElse("");
        Files.writeString(results, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        System.out.println("  mutant " + line);
    }

    private String bounded(Mutant mutant) throws InterruptedException {
        var verdict = new FutureTask<>(() -> new Trial(root, mutant).verdict());
        Thread.ofPlatform().daemon().name("mutant-" + mutant.name()).start(verdict);
        try {
            return verdict.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            return "killed: no end within " + PATIENCE_SECONDS + " s";
        } catch (ExecutionException e) {
            return "ALIVE: " + e.getCause();
        }
    }
}
