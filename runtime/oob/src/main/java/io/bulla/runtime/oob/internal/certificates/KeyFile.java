// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.certificates;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/// A file for a secret.
final class KeyFile {

    private KeyFile() {}

    /// Makes the file as one that others may not read; it never was another one.
    static void write(Path file, String content) throws IOException {
        Set<OpenOption> fresh = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        try (WritableByteChannel out = file.getFileSystem()
                        .supportedFileAttributeViews()
                        .contains("posix")
                ? Files.newByteChannel(
                        file, fresh, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))
                : Files.newByteChannel(file, fresh)) {
            ByteBuffer bytes = ByteBuffer.wrap(content.getBytes(StandardCharsets.US_ASCII));
            while (bytes.hasRemaining()) {
                out.write(bytes);
            }
        }
    }
}
