// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.util.Objects;
import java.util.regex.Pattern;

/// What a manifest says of a rank's file.
///
/// @param rank of the node
/// @param bytes of the file
/// @param messages that are in it, undelivered
/// @param sha256 of the file, 64 lower-case hex digits
public record RankEntry(int rank, long bytes, int messages, String sha256) {

    private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

    /// Checks the fields.
    ///
    /// @throws IllegalArgumentException if a number is negative, or the digest is none
    public RankEntry {
        Objects.requireNonNull(sha256, "sha256");
        if (rank < 0 || bytes < 0 || messages < 0 || !DIGEST.matcher(sha256).matches()) {
            throw new IllegalArgumentException(
                    "not a rank's file: rank=" + rank + " bytes=" + bytes + " messages=" + messages);
        }
    }

    /// The name of the file.
    String file() {
        return FileNames.rank(rank);
    }
}
