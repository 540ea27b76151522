// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.mutants.generated;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/// Runs PIT over some classes of a module, and looks again, with more patience, at what came to no end.
final class Pit {

    // only says which ones are looked at again
    private static final int FIRST_PATIENCE = 3_000;
    private static final int PATIENCE = 12_000;
    private static final String MAIN = "org.pitest.mutationtest.commandline.MutationCoverageReport";
    private static final String TEST_OPTIONS = String.join(
            ",",
            "--enable-native-access=ALL-UNNAMED",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xmx1g",
            "-Djol.skipDynamicAttach=true",
            "-Djol.skipHotspotSAAttach=true",
            "-Djol.magicFieldOffset=true");

    private final Path root;
    private final Path work;
    private final Target target;

    Pit(Path root, Path work, Target target) {
        this.root = root;
        this.work = work;
        this.target = target;
    }

    /// What became of each change to some classes. What came to no end, or ended the process, was tried again: the
    /// tests without a change first, from which PIT takes how long each may last.
    List<Change> changes(Collection<String> types) throws IOException, InterruptedException {
        List<Change> first = run("first", types, target.methods(), FIRST_PATIENCE);
        List<Change> doubtful =
                first.stream().filter(each -> each.outcome().isDoubtful()).toList();
        if (doubtful.isEmpty()) {
            return first;
        }
        var again = new TreeSet<String>();
        doubtful.forEach(each -> again.add(each.top()));
        List<Change> second = run("again", again, spared(first, again, doubtful), PATIENCE);
        return first.stream()
                .map(each -> each.outcome().isDoubtful() ? each.with(outcome(each, second)) : each)
                .toList();
    }

    // methods of these classes in which nothing is doubtful
    private List<String> spared(List<Change> all, Set<String> types, List<Change> doubtful) {
        var names = new TreeSet<String>();
        all.stream().filter(each -> types.contains(each.top())).forEach(each -> names.add(each.inMethod()));
        doubtful.forEach(each -> names.remove(each.inMethod()));
        names.addAll(target.methods());
        return List.copyOf(names);
    }

    // twice without an end is a kill
    private static Change.Outcome outcome(Change change, List<Change> second) {
        Change.Outcome again = second.stream()
                .filter(each ->
                        each.place().equals(change.place()) && each.inClass().equals(change.inClass()))
                .map(Change::outcome)
                .findFirst()
                .orElse(Change.Outcome.NOT_STARTED);
        return again == change.outcome() && again.hasRun() ? Change.Outcome.KILLED : again;
    }

    private List<Change> run(String name, Collection<String> types, List<String> spared, int patience)
            throws IOException, InterruptedException {
        Path module = root.resolve(target.module());
        Path folder = Files.createDirectories(
                work.resolve(target.module().replace('/', '-')).resolve(name));
        String own = module.resolve("target/classes") + File.pathSeparator + module.resolve("target/test-classes");
        String all = own
                + File.pathSeparator
                + Files.readString(module.resolve("target/class-path-pit")).strip();
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                all,
                MAIN));
        command.addAll(List.of("--classPath", all.replace(File.pathSeparatorChar, ',')));
        command.addAll(
                List.of("--mutableCodePaths", module.resolve("target/classes").toString()));
        command.addAll(List.of("--sourceDirs", module.resolve("src/main/java").toString()));
        command.addAll(List.of(
                "--targetClasses",
                types.stream()
                        .flatMap(type -> List.of(type, type + "$*").stream())
                        .collect(Collectors.joining(","))));
        command.addAll(List.of("--targetTests", String.join(",", target.looking(root))));
        command.addAll(List.of("--excludedGroups", "faults"));
        if (!spared.isEmpty()) {
            command.addAll(List.of("--excludedMethods", String.join(",", spared)));
        }
        if (!target.calls().isEmpty()) {
            command.addAll(List.of("--avoidCallsTo", String.join(",", target.calls())));
        }
        command.addAll(List.of("--reportDir", folder.toString(), "--timestampedReports=false"));
        command.addAll(List.of("--outputFormats", "XML", "--threads", "1", "--failWhenNoMutations=false"));
        command.addAll(List.of("--timeoutConst", String.valueOf(patience), "--jvmArgs", TEST_OPTIONS));
        Path log = folder.resolve("log");
        // tests look for files of the project, and leave some
        Process process = new ProcessBuilder(command)
                .directory(module.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            process.waitFor();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        }
        Path report = folder.resolve("mutations.xml");
        if (process.exitValue() != 0 || !Files.exists(report)) {
            List<String> said = Files.readAllLines(log);
            throw new IllegalStateException("PIT failed: module=" + target.module() + " status=" + process.exitValue()
                    + "\n" + String.join("\n", said.subList(Math.max(0, said.size() - 30), said.size())));
        }
        return Change.read(report, module.resolve("src/main/java"));
    }
}
