// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.shell;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Files of a command line, where `-` is standard input. What is read from there is kept in a temporary file, so that
/// its size is known before it is sent, and it can be read again.
public final class StandardInput implements AutoCloseable {

    /// The name of standard input; `./-` is a file of that name.
    public static final String NAME = "-";

    private static final String FILE = "stdin";
    private static final int PIECE = 64 << 10;

    private final List<Path> files;
    private final @Nullable TrialFolder folder;

    private StandardInput(List<Path> files, @Nullable TrialFolder folder) {
        this.files = files;
        this.folder = folder;
    }

    /// Reads standard input to its end, if it is among the files.
    ///
    /// @param given files, at most one of which is `-`
    /// @param limit most bytes of standard input
    /// @throws IOException if it is named twice, has more bytes, or cannot be read or kept
    public static StandardInput among(List<Path> given, long limit) throws IOException {
        long named = given.stream().filter(StandardInput::isIt).count();
        if (named == 0) {
            return new StandardInput(given, null);
        }
        if (named > 1) {
            throw new IOException("standard input can be read once: named=" + named);
        }
        TrialFolder folder = TrialFolder.create("bulla-stdin-");
        try {
            Path kept = folder.path().resolve(FILE);
            try (OutputStream out = Files.newOutputStream(kept)) {
                copy(System.in, out, limit);
            }
            return new StandardInput(
                    given.stream().map(file -> isIt(file) ? kept : file).toList(), folder);
        } catch (Throwable failure) {
            folder.close();
            throw failure;
        }
    }

    private static boolean isIt(Path file) {
        return file.toString().equals(NAME);
    }

    /// Copies all that there is.
    ///
    /// @throws IOException if it is more than the limit, or one of the two fails
    public static void copy(InputStream in, OutputStream out, long limit) throws IOException {
        byte[] piece = new byte[PIECE];
        long copied = 0;
        for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
            copied += count;
            if (copied > limit) {
                throw new IOException("standard input over the limit: limit=" + limit);
            }
            out.write(piece, 0, count);
        }
    }

    /// The files, all of which can be opened by their names.
    public List<Path> files() {
        return files;
    }

    @Override
    public void close() throws IOException {
        if (folder != null) {
            folder.close();
        }
    }
}
