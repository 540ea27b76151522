// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.mutants.generated;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Changes the logic of the modules of `stress/mutants/alive/modules`, as PIT does it, and fails for a change that
/// lives and has no row there, and for a row whose change does not live.
///
/// `GeneratedMutants ROOT WORK PARTS PART [MODULE|CLASS...]`: the part of all classes, by their sizes, so that a part
/// has classes of few modules; only those of these modules, or these classes, if any is named.
public final class GeneratedMutants {

    private final Path root;
    private final Path work;
    private Counts all = new Counts(0, 0, 0, 0, 0, 0, 0);

    private GeneratedMutants(Path root, Path work) {
        this.root = root;
        this.work = work;
    }

    public static void main(String[] args) throws Exception {
        var run = new GeneratedMutants(Path.of(args[0]), Path.of(args[1]));
        var classes = run.part(
                Integer.parseInt(args[2]),
                Integer.parseInt(args[3]),
                List.of(args).subList(4, args.length));
        for (var each : classes.entrySet()) {
            run.look(each.getKey(), each.getValue());
        }
        System.out.println("mutants-generated: modules=" + run.all.modules + " " + run.all);
        System.exit(run.all.isGood() ? 0 : 1);
    }

    private record Sized(Target target, String type, long bytes) {}

    /// @return modules with classes, in order
    private Map<Target, List<String>> part(int parts, int part, List<String> names) throws IOException {
        var sized = new ArrayList<Sized>();
        for (Target target : Target.all(root)) {
            for (String type : target.changed(root)) {
                String simple = type.substring(type.lastIndexOf('.') + 1);
                if (names.isEmpty() || names.contains(target.module()) || names.contains(simple)) {
                    sized.add(new Sized(target, type, bytes(target, type)));
                }
            }
        }
        long total = sized.stream().mapToLong(Sized::bytes).sum();
        long before = 0;
        var chosen = new LinkedHashMap<Target, List<String>>();
        for (Sized each : sized) {
            long middle = before + each.bytes / 2;
            if (middle * parts / total == part % parts) {
                chosen.computeIfAbsent(each.target, _ -> new ArrayList<>()).add(each.type);
            }
            before += each.bytes;
        }
        if (chosen.isEmpty()) {
            throw new IllegalArgumentException("no classes: part=" + part + "/" + parts + " names=" + names);
        }
        return chosen;
    }

    private long bytes(Target target, String type) throws IOException {
        String path = type.replace('.', '/');
        Path folder = root.resolve(target.module())
                .resolve("target/classes")
                .resolve(path)
                .getParent();
        String simple = type.substring(type.lastIndexOf('.') + 1);
        long bytes = 0;
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString();
                if (name.equals(simple + ".class") || name.startsWith(simple + "$")) {
                    bytes += Files.size(file);
                }
            }
        }
        return bytes;
    }

    private void look(Target target, List<String> types) throws IOException, InterruptedException {
        long begun = System.nanoTime();
        List<Change> changes = new Pit(root, work, target).changes(types);
        Rows rows = Rows.read(target.rows(root));
        List<Change> living =
                changes.stream().filter(each -> !each.outcome().isKilled()).toList();
        List<Change> unargued =
                living.stream().filter(each -> !rows.isArgued(each)).toList();
        boolean whole = types.size() == target.changed(root).size();
        List<String> wrong = rows.stale(changes, whole ? null : simple(types));
        List<Change> open = rows.open(target, changes, whole);
        var counts = new Counts(
                1,
                changes.size(),
                changes.size() - living.size(),
                living.size() - unargued.size(),
                unargued.size() - open.size(),
                open.size(),
                wrong.size());
        open.forEach(each -> say("alive", each));
        if (!whole) {
            unargued.stream().filter(each -> !open.contains(each)).forEach(each -> say("allowed", each));
        }
        if (!open.isEmpty()) {
            Files.write(
                    work.resolve(target.rows(root).getFileName()),
                    open.stream().map(each -> each.place() + "\t").toList());
        }
        wrong.forEach(line -> System.out.println("  row    " + line));
        System.out.println("mutants-generated: " + target.module() + ": " + counts + " in "
                + (System.nanoTime() - begun) / 1_000_000_000 + " s");
        all = all.plus(counts);
    }

    private static void say(String what, Change change) {
        System.out.println("  " + what + "  " + change.outcome() + " "
                + change.place().type() + "." + change.place().method() + ": " + change.said());
    }

    private static TreeSet<String> simple(List<String> types) {
        return types.stream()
                .map(type -> type.substring(type.lastIndexOf('.') + 1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private record Counts(int modules, int all, int killed, int argued, int allowed, int alive, int stale) {

        Counts plus(Counts more) {
            return new Counts(
                    modules + more.modules,
                    all + more.all,
                    killed + more.killed,
                    argued + more.argued,
                    allowed + more.allowed,
                    alive + more.alive,
                    stale + more.stale);
        }

        boolean isGood() {
            return alive == 0 && stale == 0 && all > 0;
        }

        @Override
        public String toString() {
            return "all=" + all + " killed=" + killed + " argued=" + argued
                    + (allowed == 0 ? "" : " allowed=" + allowed) + (stale == 0 ? "" : " rows-without-one=" + stale)
                    + " alive=" + alive;
        }
    }
}
