// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.cli.Bulla;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// One message handed to 64 processes of this host, by `bulla share`.
public final class HandOver {

    private static final int PROCESSES = 64;
    private static final int ROUNDS = 7;
    private static final Pattern SECONDS = Pattern.compile("every process has the bytes.* seconds=([0-9.]+)");

    private HandOver() {}

    /// Milliseconds until every process has the bytes: the median of the rounds of one set of processes.
    ///
    /// @param send `seal` or `copy`
    /// @param bytes of the message
    public static Case of(String send, int bytes) {
        return new Case("share-" + send + "[" + bytes + "]", "ms", _ -> measure(send, bytes));
    }

    private static double measure(String send, int bytes) throws IOException, InterruptedException {
        Path file = Files.createTempFile("bulla-hand-over", null);
        try {
            byte[] content = new byte[bytes];
            new Random(bytes).nextBytes(content);
            Files.write(file, content);
            String line = Case.lines(
                            Bulla.class,
                            "share",
                            "--processes=" + PROCESSES,
                            "--rounds=" + ROUNDS,
                            "--send=" + send,
                            file.toString())
                    .getFirst();
            Matcher seconds = SECONDS.matcher(line);
            if (!seconds.matches()) {
                throw new IOException("bulla share says something else: " + line);
            }
            return 1e3 * Double.parseDouble(seconds.group(1));
        } finally {
            Files.delete(file);
        }
    }
}
