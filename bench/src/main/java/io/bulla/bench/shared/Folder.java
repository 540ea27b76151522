// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// A folder of this user alone for the sockets of one measurement.
///
/// @param path of it
record Folder(Path path) implements AutoCloseable {

    static Folder create() throws IOException {
        // of mode 0700
        return new Folder(Files.createTempDirectory("bulla-shared"));
    }

    Path board() {
        return path.resolve("board");
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> files = Files.list(path)) {
            for (Path each : files.toList()) {
                Files.deleteIfExists(each);
            }
        }
        Files.delete(path);
    }
}
