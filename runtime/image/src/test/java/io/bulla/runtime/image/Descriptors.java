// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.image;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/// What this process has open of the kinds that no image may have: sockets, and what waits for them.
final class Descriptors {

    private static final Path ALL = Path.of("/proc/self/fd");

    private Descriptors() {}

    static boolean areShown() {
        return Files.isDirectory(ALL);
    }

    /// @return number and kind of each
    static Set<String> open() throws IOException {
        Set<String> open = new TreeSet<>();
        try (Stream<Path> each = Files.list(ALL)) {
            for (Path link : each.toList()) {
                String what = target(link);
                if (what.startsWith("socket:") || what.startsWith("anon_inode:")) {
                    open.add(link.getFileName() + " " + what);
                }
            }
        }
        return open;
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException closedMeanwhile) {
            return "";
        }
    }
}
