// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The public API of modules as text: `api.txt` in each module's folder, one member a line, sorted.
///
/// `ApiDump check MODULE...` compares what was compiled with the text and prints what differs, `ApiDump write
/// MODULE...` writes the text anew. A module is its folder; its classes are in `target/classes`.
public final class ApiDump {

    private ApiDump() {}

    /// Runs the command; the exit code is 1 if something differs, 2 if it was called wrongly.
    ///
    /// @param args `check` or `write`, then folders of modules
    /// @throws IOException if a file cannot be read or written
    public static void main(String[] args) throws IOException {
        if (args.length < 2 || !(args[0].equals("check") || args[0].equals("write"))) {
            System.err.println("api: call: check|write MODULE...");
            System.exit(2);
        }
        int differing = 0;
        for (String module : Arrays.asList(args).subList(1, args.length)) {
            Path folder = Path.of(module);
            if (args[0].equals("write")) {
                List<String> lines = ModuleApi.of(folder.resolve("target/classes"));
                Files.write(textOf(folder), lines);
                System.out.println("  api  " + module + " lines=" + lines.size());
            } else {
                differing += check(folder) ? 0 : 1;
            }
        }
        if (differing > 0) {
            System.err.println("api: the public API is not what api.txt says: modules=" + differing
                    + "; if that is meant: ./check api --write, and a line in CHANGELOG.md");
            System.exit(1);
        }
    }

    /// Prints lines that are only in the text with `-`, lines that are only in the classes with `+`.
    ///
    /// @return whether there are none
    static boolean check(Path folder) throws IOException {
        List<String> now = ModuleApi.of(folder.resolve("target/classes"));
        List<String> committed = Files.exists(textOf(folder)) ? Files.readAllLines(textOf(folder)) : List.of();
        if (now.equals(committed)) {
            return true;
        }
        System.out.println("api: " + folder);
        List<String> before = withTypes(committed);
        List<String> after = withTypes(now);
        before.stream().filter(line -> !after.contains(line)).forEach(line -> System.out.println("- " + line));
        after.stream().filter(line -> !before.contains(line)).forEach(line -> System.out.println("+ " + line));
        return false;
    }

    /// Members with their type behind them, or a member that one type lost would hide behind another's.
    private static List<String> withTypes(List<String> lines) {
        List<String> all = new ArrayList<>();
        String type = "";
        for (String line : lines) {
            boolean member = line.startsWith(" ");
            type = member ? type : line;
            all.add(member ? line + "    // " + type : line);
        }
        return all;
    }

    private static Path textOf(Path folder) {
        return folder.resolve("api.txt");
    }
}
