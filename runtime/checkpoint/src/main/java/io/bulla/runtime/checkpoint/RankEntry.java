// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.util.Objects;
import java.util.regex.Pattern;

/// A manifest's entry for the file of one rank.
///
/// @param rank of the node
/// @param bytes of the file
/// @param messages that are in it, undelivered
/// @param sha256 of the file, 64 lower-case hex digits
/// @param records SHA-256 of the headers of its records, one after the other, which have the checksums of the bodies:
///     what a restore looks at
public record RankEntry(int rank, long bytes, int messages, String sha256, String records) {

    private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

    /// Checks the fields.
    ///
    /// @throws IllegalArgumentException if a number is negative, or a digest is none
    public RankEntry {
        Objects.requireNonNull(sha256, "sha256");
        Objects.requireNonNull(records, "records");
        boolean digests =
                DIGEST.matcher(sha256).matches() && DIGEST.matcher(records).matches();
        if (rank < 0 || bytes < 0 || messages < 0 || !digests) {
            throw new IllegalArgumentException(
                    "not a rank's file: rank=" + rank + " bytes=" + bytes + " messages=" + messages);
        }
    }

    /// @param digests as of [#digests()]
    /// @throws IllegalArgumentException if a number is negative, or a digest is none
    static RankEntry of(int rank, long bytes, int messages, String digests) {
        int space = Math.max(0, digests.indexOf(' '));
        return new RankEntry(
                rank,
                bytes,
                messages,
                digests.substring(0, space),
                digests.substring(space).strip());
    }

    /// Both, as a node tells them its coordinator.
    String digests() {
        return sha256 + " " + records;
    }

    /// The name of the file.
    String file() {
        return FileNames.rank(rank);
    }
}
