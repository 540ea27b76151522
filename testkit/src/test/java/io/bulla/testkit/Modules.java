// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import java.util.TreeMap;

/// The modules that other people's builds use: those with an `api.txt`.
public final class Modules {

    private Modules() {}

    /// @return by the module's folder, as `interop/agrona`, its `api.txt`
    public static Map<String, Path> published() throws IOException {
        Map<String, Path> found = new TreeMap<>();
        Files.walkFileTree(Repository.ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                String name = folder.getFileName().toString();
                return name.startsWith(".") || name.equals("target") || name.equals("src")
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.endsWith("api.txt")) {
                    found.put(Repository.ROOT.relativize(file.getParent()).toString(), file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return found;
    }
}
