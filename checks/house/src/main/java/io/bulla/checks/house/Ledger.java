// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.house;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// The tables of `docs/memory-model.md`.
final class Ledger {

    private static final String ACCESSES = "### Accesses in ";
    private static final Pattern WORD = Pattern.compile("`([^`]+)`");

    private final List<String> lines;

    Ledger(Path root) {
        try {
            lines = Files.readAllLines(root.resolve("docs").resolve("memory-model.md"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The rows of accesses by module: "target operation" and its sites.
    Map<String, Map<String, Set<String>>> accesses() {
        var modules = new LinkedHashMap<String, Map<String, Set<String>>>();
        for (String line : lines) {
            if (line.startsWith(ACCESSES)) {
                String module = line.substring(ACCESSES.length());
                Map<String, Set<String>> rows = new TreeMap<>();
                for (List<String> row : table(line)) {
                    String what = row.get(0).replace("`", "") + " " + row.get(1).replace("`", "");
                    if (rows.put(what, new TreeSet<>(words(row.get(2)))) != null) {
                        throw new AssertionError("two rows for one access: module=" + module + " access=" + what);
                    }
                }
                modules.put(module, rows);
            }
        }
        return modules;
    }

    /// The claims that a litmus file belongs to, each with the methods that its code is: the file has the name that
    /// the claim's row has, or, a twin, a longer one.
    Map<String, Set<String>> claimsOf(String litmus) {
        var claims = new LinkedHashMap<String, Set<String>>();
        for (List<String> row : table("## Claims")) {
            if (words(row.get(5)).stream().anyMatch(name -> litmus.equals(name) || litmus.startsWith(name + "-"))) {
                claims.put(row.get(0).replace("*", ""), methods(row.get(2)));
            }
        }
        return claims;
    }

    // a method without its type is one of the type before it
    private static Set<String> methods(String cell) {
        var methods = new TreeSet<String>();
        String type = "";
        for (String word : words(cell)) {
            int dot = word.lastIndexOf('.');
            type = dot < 0 ? type : word.substring(0, dot + 1);
            methods.add(dot < 0 ? type + word : word);
        }
        return methods;
    }

    /// The rows of the first table below a heading, without its head.
    List<List<String>> table(String heading) {
        var rows = new ArrayList<List<String>>();
        for (String line : lines.subList(lines.indexOf(heading) + 1, lines.size())) {
            if (line.startsWith("|")) {
                rows.add(Arrays.stream(line.substring(1, line.lastIndexOf('|')).split("\\|"))
                        .map(String::strip)
                        .toList());
            } else if (!rows.isEmpty() || line.startsWith("#")) {
                break;
            }
        }
        return rows.subList(Math.min(2, rows.size()), rows.size());
    }

    /// What stands between back quotes.
    static List<String> words(String cell) {
        return WORD.matcher(cell)
                .results()
                .map((MatchResult found) -> found.group(1))
                .collect(Collectors.toList());
    }
}
