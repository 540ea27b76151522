// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.house;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/// What the rows of the ledger say against what class files do.
public final class LedgerCheck {

    /// Those that have a table of accesses.
    public static final String[] MODULES = {
        "refcount",
        "iovec",
        "buffer-core",
        "pack-unpack",
        "pool",
        "fanout",
        "native/posix",
        "native/fabric",
        "interop/netty",
        "interop/websocket",
        "interop/agrona",
        "interop/aeron",
        "interop/grpc",
        "interop/flight",
        "runtime/micrometer",
        "runtime/image",
        "native/registration",
        "runtime/oob",
        "runtime/checkpoint",
        "runtime/pmix",
        "runtime/oob-pmix",
        "runtime/oob-local",
        "runtime/oob-fabric",
        "cli",
        "testkit"
    };

    private LedgerCheck() {}

    /// One line for each difference between the rows of a source's module and the class files of that source alone:
    /// rows count here if they name one of its types.
    public static List<String> differences(Path root, Path source, Path classes) {
        String path = source.toString().replace('\\', '/');
        String module = path.substring(0, path.indexOf("/src/"));
        String type = source.getFileName().toString().replace(".java", ".");
        Map<String, Set<String>> rows = new Ledger(root).accesses().get(module);
        rows.values().forEach(sites -> sites.removeIf(site -> !site.startsWith(type)));
        return differences(module, rows, AccessSites.in(classes));
    }

    /// Whether a twin is one of a claim whose code is what a change is in.
    ///
    /// @param twin a name in `stress/litmus`, without its ending
    /// @param differences what the ledger's rows say against the change
    public static boolean isTwinOf(Path root, String twin, List<String> differences) {
        Map<String, Set<String>> claims = new Ledger(root).claimsOf(twin);
        return differences.stream()
                .map(line -> line.substring(line.lastIndexOf(": ") + 2))
                .anyMatch(site -> claims.values().stream().anyMatch(code -> code.contains(site)));
    }

    /// Whether a twin is one of a claim that has code in a type.
    ///
    /// @param type with a dot at its end
    public static boolean isTwinIn(Path root, String twin, String type) {
        return new Ledger(root)
                .claimsOf(twin).values().stream()
                        .anyMatch(code -> code.stream().anyMatch(method -> method.startsWith(type)));
    }

    static List<String> differences(String module, Map<String, Set<String>> rows, Map<String, Set<String>> found) {
        var lines = new TreeSet<String>();
        rows.forEach((access, sites) -> without(sites, found.get(access))
                .forEach(site -> lines.add(module + ": row without a site: " + access + ": " + site)));
        found.forEach((access, sites) -> without(sites, rows.get(access))
                .forEach(site -> lines.add(module + ": site without a row: " + access + ": " + site)));
        return List.copyOf(lines);
    }

    private static Set<String> without(Set<String> sites, Set<String> others) {
        var left = new TreeSet<>(sites);
        left.removeAll(others == null ? Set.of() : others);
        return left;
    }
}
