// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// The files of this repository, for tests that keep documents in step with them.
public final class Repository {

    public static final Path ROOT = root();

    private Repository() {}

    /// A document's lines.
    static List<String> document(String name) throws IOException {
        return Files.readAllLines(ROOT.resolve("docs").resolve(name));
    }

    /// Sources whose path matches, by the name of their class.
    static Map<String, Path> sources(String pattern) throws IOException {
        Map<String, Path> sources = new HashMap<>();
        try (Stream<Path> files = Files.walk(ROOT)) {
            files.filter(path -> path.toString().matches(pattern))
                    .forEach(path -> sources.put(path.getFileName().toString().replace(".java", ""), path));
        }
        return sources;
    }

    private static Path root() {
        Path at = Path.of("").toAbsolutePath();
        while (!Files.exists(at.resolve("docs/architecture.md"))) {
            at = at.getParent();
        }
        return at;
    }
}
